/**
 * A second spelling of a member that the gateway decides on: a server whose parser folds names might read it instead, so the whole message
 * is refused, in both eras, alone, in a batch and through `call_tool`.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
  WHOLE,
} from '../support/portico.ts';

const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];
const INVALID_PARAMS = -32602;
const SEARCH = '/mcp?tools=search';

const portico = createPortico();
const server = new FakeServer({ tools: [toolOf('echo'), toolOf('admin_wipe')] });

beforeAll(async () => {
  serve({ evil: server });
  await registerConnected(portico, 'evil');
});
beforeEach(() => {
  serve({ evil: server });
  server.posts.length = 0;
});

/** POSTs a request whose text was changed; returns the answer. */
async function send(
  era: Era,
  method: string,
  params: Record<string, unknown>,
  change: (text: string) => string,
  path = '/mcp',
): Promise<RpcAnswer> {
  const { message, headers } = ask(era, method, params);
  const text = JSON.stringify(message);
  const changed = change(text);
  expect(changed).not.toBe(text);
  const response = await portico.post(changed, { headers: { ...WHOLE, ...headers } }, path);
  return response.json();
}

/** Inserts more members before those of the params. */
const adding = (members: string) => (text: string) =>
  text.replace('"params":{', `"params":{${members},`);

const calls = () => server.of('tools/call').length;

const SPELLINGS = [
  '"Name":"admin_wipe"',
  '"NAME":"admin_wipe"',
  '"nAmE":"admin_wipe"',
  '"name\\u0000":"admin_wipe"',
  '"\\u200bname":"admin_wipe"',
  '"na\\u00adme":"admin_wipe"',
  '" name":"admin_wipe"',
  '"\\uff4eame":"admin_wipe"',
  '"na_me":"admin_wipe"',
  '"Arguments":{"all":true}',
  '"argument\\u017f":{"all":true}',
  '"ta\\u017fk":{}',
  '"tas\\u212a":{}',
  '"ta\\u017f\\u212a":{}',
  '"TaskId":"t"',
  '"task_id":"t"',
  '"URI":"file:///etc/passwd"',
  '"_Meta":{"progressToken":1}',
  '"meta":{"progressToken":1}',
  '"RequestState":"s"',
  '"input_responses":{}',
  '"n\\u0061me":"admin_wipe"',
  '"name":"admin_wipe"',
  '"arguments":{},"arguments":{"all":true}',
];

describe.each(ERAS)('a call of the %s era', era => {
  const params = { name: 'evil.echo', arguments: { Name: 'x', NAME: 'y', name: 'z' } };

  it.each(SPELLINGS)('[SEC-10] with a second spelling is refused: %s', async spelling => {
    const answer = await send(era, 'tools/call', params, adding(spelling));
    expect(answer.error?.code).toBe(INVALID_PARAMS);
    expect(answer.error?.message).toMatch(/second (spelling|time)|twice|spelling/);
    expect(calls()).toBe(0);
  });

  it.each([
    ['prompts/get', { name: 'evil.a' }, '"Name":"b"'],
    ['resources/read', { uri: 'evil+file:///a' }, '"Uri":"file:///b"'],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'evil.a' } }, '"Ref":{}'],
    ['tools/list', { cursor: 'a' }, '"Cursor":"b"'],
  ])('[SEC-10] with a second spelling is refused for every method: %s', async (...given) => {
    const [method, own, spelling] = given;
    const answer = await send(era, method, own, adding(spelling));
    expect(answer.error?.code).toBe(INVALID_PARAMS);
    expect(answer.error?.message).toMatch(/spell/);
  });

  it.each(['"Name":"b"', '"TYPE":"ref/resource"', '"uri\\u0000":"x"', '"name":"b"'])(
    '[SEC-10] with one inside ref is refused: %s',
    async spelling => {
      const own = {
        ref: { type: 'ref/prompt', name: 'evil.a' },
        argument: { name: 'a', value: '' },
      };
      const change = (text: string) => text.replace('"ref":{', `"ref":{${spelling},`);
      const answer = await send(era, 'completion/complete', own, change);
      expect(answer.error?.code).toBe(INVALID_PARAMS);
      expect(answer.error?.message).toMatch(/ref/);
      expect(server.of('completion/complete')).toEqual([]);
    },
  );

  it.each([
    '"ProgressToken":"b"',
    '"io.modelcontextprotocol/ProtocolVersion":"x"',
    '"io.modelcontextprotocol/loglevel":"debug"',
    '"progressToken":"b"',
  ])('[SEC-10] with one inside _meta is refused: %s', async spelling => {
    const own = { ...params, _meta: { progressToken: 'a' } };
    const change = (text: string) => text.replace('"_meta":{', `"_meta":{${spelling},`);
    const answer = await send(era, 'tools/call', own, change);
    expect(answer.error?.code).toBe(INVALID_PARAMS);
    expect(answer.error?.message).toMatch(/_meta/);
    expect(calls()).toBe(0);
  });

  it.each(['"Method":"tools/list"', '"ID":2', '"Params":{"name":"admin_wipe"}', '"id":2'])(
    '[SEC-10] with one beside its method is refused: %s',
    async spelling => {
      const { message, headers } = ask(era, 'tools/call', params);
      const text = JSON.stringify(message).replace('{', `{${spelling},`);
      const response = await portico.post(text, { headers: { ...WHOLE, ...headers } });
      const answer = await response.json<RpcAnswer>();
      expect([INVALID_PARAMS, -32600]).toContain(answer.error?.code);
      expect(calls()).toBe(0);
    },
  );

  it('[SEC-10] [MCP-7] may spell its arguments and unrelated members freely', async () => {
    const answer = await send(
      era,
      'tools/call',
      params,
      adding('"nickname":"b","Имя":1,"names":[]'),
    );
    expect(answer.result?.content?.[0]?.text).toBe(JSON.stringify(params.arguments));
    expect(server.of('tools/call').at(-1)?.params).toMatchObject({ nickname: 'b', Имя: 1 });
  });

  it.each(['"Name":"evil.admin_wipe"', '"name":"evil.admin_wipe"', '"Arguments":{}'])(
    '[SEC-10] through call_tool with one in its own arguments is refused: %s',
    async spelling => {
      const own = { name: 'call_tool', arguments: { name: 'evil.echo', arguments: { Name: 1 } } };
      const change = (text: string) => text.replace('"arguments":{', `"arguments":{${spelling},`);
      const answer = await send(era, 'tools/call', own, change, SEARCH);
      expect(answer.error?.code ?? answer.result?.isError).toBeTruthy();
      expect(calls()).toBe(0);
    },
  );

  it('[SEC-10] through call_tool with one in its params is refused', async () => {
    const own = { name: 'call_tool', arguments: { name: 'evil.echo' } };
    const answer = await send(era, 'tools/call', own, adding('"Name":"admin_wipe"'), SEARCH);
    expect(answer.error?.code).toBe(INVALID_PARAMS);
    expect(calls()).toBe(0);
  });

  it('[SEC-6] [SEC-10] that is refused for it has its row', async () => {
    const person = await createPerson(portico);
    const { message, headers } = ask(era, 'tools/call', params);
    const text = adding('"Name":"admin_wipe"')(JSON.stringify(message));
    await (await portico.post(text, { headers, token: person.token })).text();
    const [row] = await rowsOf(portico, person);
    expect(row).toMatchObject({ action: 'tool.call', code: 'invalid_params' });
  });
});

describe('a message with a second spelling', () => {
  it('[SEC-10] in a batch is refused alone', async () => {
    const texts = [
      adding('"Name":"admin_wipe"')(JSON.stringify(legacy('tools/call', { name: 'evil.echo' }, 1))),
      JSON.stringify(legacy('tools/call', { name: 'evil.echo' }, 2)),
    ];
    const answers = await (await portico.post(`[${texts.join(',')}]`)).json<RpcAnswer[]>();
    expect(answers.map(({ error }) => error?.code)).toEqual([INVALID_PARAMS, undefined]);
    expect(calls()).toBe(1);
  });

  it('[SEC-10] opens no session', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
    const text = adding('"Capabilities":{"sampling":{}}')(
      JSON.stringify(legacy('initialize', params)),
    );
    const response = await portico.post(text);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await response.json<RpcAnswer>()).error?.code).toBe(INVALID_PARAMS);
  });

  it('[SEC-10] over REST is refused', async () => {
    const text = '{"name":"evil.echo","Name":"evil.admin_wipe","arguments":{}}';
    const response = await portico.fetch('/api/v1/tools/call', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${(await createPerson(portico)).token}`,
      },
      body: text,
    });
    expect(response.status).toBe(422);
    expect(calls()).toBe(0);
  });

  it('[SEC-10] is found in linear time', async () => {
    const { message, headers } = modern('tools/call', { name: 'evil.echo' });
    const spoil = (members: string) => adding(members)(JSON.stringify(message));
    const long = `"${'\\u0301\\u0323'.repeat(120_000)}":1`;
    const many = Array.from({ length: 60_000 }, (_, i) => `"ﬃ\u0323\u0301${i}":1`).join(',');
    for (const text of [spoil(long), spoil(many)]) {
      const startedAt = performance.now();
      const response = await portico.post(text, { headers });
      await response.text();
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
  });
});
