/** `call_tool`: server, access, audit and limits treat it as the call that it wraps. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { FakeServer, resultOf, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  createToken,
  legacy,
  modern,
  registerConnected,
  type Portico,
  type RpcAnswer,
  type Sent,
  WHOLE,
} from '../support/portico.ts';

const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];
const PATH = '/mcp?tools=search';

const mirrored = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
};
const shop = new FakeServer({
  era: 'modern',
  tools: [toolOf('order'), toolOf('query', { inputSchema: mirrored }), toolOf('call_tool')],
});
const vault = new FakeServer({ tools: [toolOf('open')] });
const portico = createPortico();
let guest: string;

async function send(
  era: Era,
  given: unknown,
  more: Record<string, unknown> = {},
  sent: Sent = {},
  path = PATH,
  through: Portico = portico,
): Promise<{ status: number; text: string; answer: RpcAnswer }> {
  const params = { name: 'call_tool', arguments: given, ...more };
  const { message, headers } = ask(era, 'tools/call', params, 7);
  const merged = { ...sent, headers: { ...WHOLE, ...headers, ...sent.headers } };
  const response = await through.post(message, merged, path);
  const text = await response.text();
  return { status: response.status, text, answer: JSON.parse(text) as RpcAnswer };
}

const saidBy = ({ answer }: { answer: RpcAnswer }) => answer.result?.content?.[0]?.text ?? '';
const lastCall = (server: FakeServer) => server.of('tools/call').at(-1);

beforeAll(async () => {
  serve({ shop, vault });
  await registerConnected(portico, 'shop');
  await registerConnected(portico, 'vault');
  guest = (await createToken(portico, { servers: ['shop'] })).token;
});

beforeEach(() => void serve({ shop, vault }));

describe('a call through call_tool', () => {
  it.each(ERAS)('[FIND-2] [MCP-7] reaches the server like a direct one: %s', async era => {
    const args = '{"z": 9007199254740993, "a":[1.50, {"é\\u2028":null}],"10":-0}';
    const body = (name: string, given: string) => {
      const made =
        era === 'modern' ? modern('tools/call', { name }) : ask(era, 'tools/call', { name });
      const text = JSON.stringify(made.message).replace(
        `"name":"${name}"`,
        `"name":"${name}","arguments":${given}`,
      );
      return { text, headers: made.headers };
    };
    const direct = body('shop.order', args);
    await portico.post(direct.text, { headers: direct.headers });
    const through = body('call_tool', `{"arguments":${args}, "name":"shop.order"}`);
    const response = await portico.post(through.text, { headers: through.headers }, PATH);
    expect((await response.json<RpcAnswer>()).result?.content).toHaveLength(1);
    const [first, second] = shop.of('tools/call').slice(-2);
    const withoutId = (text = '') => text.replace(/"id":("[^"]*"|\d+)/, '"id":0');
    expect(second?.text).toContain(args);
    expect(withoutId(second?.text)).toBe(withoutId(first?.text));
    expect(second?.headers.get('mcp-name')).toBe('order');
  });

  it('[FIND-2] passes on _meta, and no arguments if there are none', async () => {
    const _meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01' };
    await send('modern', { name: 'shop__order' }, { _meta });
    const seen = lastCall(shop)?.params;
    expect(seen).toMatchObject({ name: 'order', _meta });
    expect(seen).not.toHaveProperty('arguments');
  });

  it("[FIND-2] [MCP-7] returns the server's answer, error or result", async () => {
    const { call } = shop;
    const error = { code: -31999, message: 'Closed on Sundays', data: { until: [1, null] } };
    shop.call = post => Response.json({ jsonrpc: '2.0', id: post.id, error });
    expect((await send('legacy', { name: 'shop.order' })).answer.error).toEqual(error);
    const result = {
      resultType: 'complete',
      content: [],
      structuredContent: { a: [[]] },
      isError: true,
    };
    shop.call = post => resultOf(post, result);
    expect((await send('modern', { name: 'shop.order' })).answer.result).toEqual(result);
    shop.call = call;
  });

  it('[FIND-2] mirrors what the tool declares, whatever its client mirrored', async () => {
    const sent = { headers: { 'mcp-param-region': 'elsewhere' } };
    const { status } = await send(
      'modern',
      { name: 'shop.query', arguments: { region: 'é' } },
      {},
      sent,
    );
    expect(status).toBe(200);
    expect(lastCall(shop)?.headers.get('mcp-param-region')).toBe('=?base64?w6k=?=');
  });

  it('[FIND-2] may also use the real name', async () => {
    const { message } = ask('legacy', 'tools/call', { name: 'shop.order', arguments: { a: 1 } });
    const answer = await (await portico.post(message, {}, PATH)).json<RpcAnswer>();
    expect(answer.result?.content?.[0]?.text).toBe('{"a":1}');
  });

  it("[FIND-2] calls a server's tool that has the name of one of the three", async () => {
    const own = '/mcp/servers/shop?tools=search';
    const inner = { name: 'anything' };
    expect(saidBy(await send('modern', { name: 'call_tool', arguments: inner }, {}, {}, own))).toBe(
      JSON.stringify(inner),
    );
    expect(lastCall(shop)?.params['name']).toBe('call_tool');
  });

  it('[FIND-2] may be part of a batch', async () => {
    const call = { name: 'call_tool', arguments: { name: 'shop.order', arguments: { b: 2 } } };
    const batch = [legacy('tools/list', {}, 1), legacy('tools/call', call, 2)];
    const answers = await (await portico.post(batch, {}, PATH)).json<RpcAnswer[]>();
    expect(answers[0]?.result?.tools).toHaveLength(3);
    expect(answers[1]?.result?.content?.[0]?.text).toBe('{"b":2}');
  });
});

describe('a call that failed because of its arguments', () => {
  const wrong = { name: 'strict.pay', arguments: { amount: 'much' } };
  const failed = (isError: boolean) => ({ content: [{ type: 'text', text: 'No.' }], isError });
  const schema =
    '{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"]}';
  const strict = new FakeServer({
    era: 'modern',
    tools: [toolOf('pay', { inputSchema: JSON.parse(schema) as object })],
  });
  beforeAll(async () => {
    serve({ shop, vault, strict });
    await registerConnected(portico, 'strict');
  });
  beforeEach(() => void serve({ shop, vault, strict }));

  it.each(ERAS)("[FIND-2] is answered with the tool's parameters: %s", async era => {
    strict.call = post => resultOf(post, failed(true));
    const { answer } = await send(era, wrong);
    expect(answer.result).toMatchObject({ isError: true, content: [{ text: 'No.' }, {}] });
    expect(answer.result?.content?.[1]?.text).toMatch(/^call_tool: the arguments do not fit \(/);
    expect(answer.result?.content?.[1]?.text).toContain(`The tool takes: ${schema}`);
    const right = { ...wrong, arguments: { amount: 1 } };
    expect((await send(era, right)).answer.result?.content).toHaveLength(1);
    strict.call = post => resultOf(post, failed(false));
    expect((await send(era, wrong)).answer.result?.content).toHaveLength(1);
  });

  it.each(ERAS)('[FIND-2] gets them instead of a refusal: %s', async era => {
    const error = { code: -32602, message: 'Invalid\narguments' };
    strict.call = post => Response.json({ jsonrpc: '2.0', id: post.id, error });
    const { answer } = await send(era, wrong);
    expect(answer.result).toMatchObject({ isError: true });
    expect(answer.result?.content?.map(({ text }) => text)).toEqual([
      'strict: Invalid arguments',
      expect.stringContaining(`The tool takes: ${schema}`),
    ]);
    const right = { ...wrong, arguments: { amount: 1 } };
    expect((await send(era, right)).answer.error).toEqual(error);
  });

  it('[FIND-2] [MCP-7] is answered unchanged if the real name was called', async () => {
    strict.call = post => resultOf(post, failed(true));
    const { message } = ask('legacy', 'tools/call', wrong);
    const answer = await (await portico.post(message, {}, PATH)).json<RpcAnswer>();
    expect(answer.result?.content).toEqual(failed(true).content);
  });
});

describe('a call that cannot be made', () => {
  it.each(ERAS)('[FIND-2] [ACC-3] reveals nothing hidden: %s', async era => {
    const tried = async (name: string) => {
      const { status, text } = await send(era, { name }, {}, { token: guest });
      return [status, text.replaceAll(name, 'NAME')];
    };
    const before = vault.of('tools/call').length;
    const unknown = await tried('gone.open');
    expect(unknown[1]).toContain('portico: Tool not found: NAME; find names with search_tools');
    expect(await tried('vault.open')).toEqual(unknown);
    expect(vault.of('tools/call')).toHaveLength(before);
  });

  it.each([
    [{}, 'name must be a string: a name that search_tools gave'],
    [{ name: '' }, 'name is empty; use a name that search_tools gave'],
    [
      { name: 'shop.order', title: 'x' },
      'does not know title; it takes name and arguments; what the tool itself takes belongs in arguments',
    ],
    [
      { name: 'shop.order', arguments: '{"a":1}' },
      'arguments must be an object, written out, not as text',
    ],
  ])('[FIND-2] reports what is wrong with %j', async (given, said) => {
    const before = shop.of('tools/call').length;
    const answer = await send('modern', given);
    expect(saidBy(answer)).toBe(`portico: call_tool: ${said} (invalid_params).`);
    expect(answer.answer.result).toMatchObject({ isError: true, resultType: 'complete' });
    expect(shop.of('tools/call')).toHaveLength(before);
  });

  it('[FIND-2] never calls itself', async () => {
    const inner = { name: 'call_tool', arguments: { name: 'shop.order' } };
    const said = saidBy(await send('legacy', inner));
    expect(said).toMatch(/^portico: .*call_tool; find names with search_tools/);
  });

  it('[FIND-2] [ACC-2] is refused to a token without the right to call', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:read'] });
    const { status } = await send('modern', { name: 'shop.order' }, {}, { token });
    expect(status).toBe(403);
  });
});

describe('the audit', () => {
  it('[FIND-2] [SEC-6] records calls and refusals under the name of the real tool', async () => {
    const person = await createPerson(portico, { servers: ['shop'] });
    const { token } = person;
    const sent = { token };
    await send('modern', { name: 'shop__order', arguments: { a: 1 } }, {}, sent);
    await send('legacy', { name: 'vault.open' }, {}, sent);
    await send('legacy', { nothing: true }, {}, sent);
    const { message, headers } = modern('tools/call', {
      name: 'search_tools',
      arguments: { query: 'order' },
    });
    await (await portico.post(message, { headers, token }, PATH)).text();
    const rows = await rowsOf(portico, person);
    // Calls of one millisecond have no order.
    const told = rows.map(({ action, subject, outcome }) => [action, subject, outcome].join(' '));
    expect(told.toSorted()).toEqual([
      'tool.call call_tool failed',
      'tool.call shop.order done',
      'tool.call vault.open denied',
    ]);
  });

  it('[FIND-2] [ACC-2] records a refused search', async () => {
    const person = await createPerson(portico, { scopes: ['tools:call'] });
    const { message, headers } = modern('tools/call', {
      name: 'search_tools',
      arguments: { query: 'order' },
    });
    await (await portico.post(message, { headers, token: person.token }, PATH)).text();
    const rows = await rowsOf(portico, person);
    expect(rows).toMatchObject([{ action: 'tool.call', subject: 'search_tools' }]);
  });

  it('[FIND-2] [ACC-6] counts calls, but no searches, against the limit', async () => {
    const limited = createPortico({ PORTICO_RATE_LIMIT: '2' });
    const { token } = await createToken(limited);
    const call = () => send('modern', { name: 'shop.order' }, {}, { token }, PATH, limited);
    for (let i = 0; i < 4; i += 1) {
      const params = { name: 'search_tools', arguments: { query: 'order' } };
      const { message, headers } = modern('tools/call', params);
      const found = await limited.post(message, { headers, token }, PATH);
      expect((await found.json<RpcAnswer>()).result?.isError).toBeUndefined();
    }
    expect(saidBy(await call())).toBe('{}');
    expect(saidBy(await call())).toBe('{}');
    expect((await call()).answer.result?._meta).toMatchObject({ 'portico/reason': 'rate_limited' });
  });
});
