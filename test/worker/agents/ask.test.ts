/**
 * Ask in the Worker without a model: one error that names the missing settings, the allow-list of administrators, the endpoint with one
 * tool.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listAllowed } from '../../../src/agents/ask/allowlist-store.ts';
import { listChain } from '../../../src/audit/audit-store.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { addIdentity } from '../support/identities.ts';
import {
  ask as toCall,
  createPortico,
  createToken,
  register,
  registerConnected,
  type Portico,
  type RpcAnswer,
  WHOLE,
} from '../support/portico.ts';

interface Entry {
  id: string;
  server: string;
  tool: string;
  side_effects: boolean;
  subject: object;
}
interface Problem {
  code: string;
  detail: string;
  errors?: { field: string }[];
}

const PATH = '/api/v1/ask/allowlist';
const portico = createPortico();

async function allow(body: object): Promise<Entry> {
  const response = await portico.api('POST', PATH, body);
  expect(response.status).toBe(201);
  return response.json<Entry>();
}

const notes = new FakeServer({ tools: [toolOf('read_note')] });
beforeAll(async () => {
  serve({ notes });
  await registerConnected(portico, 'notes');
});
beforeEach(() => void serve({ notes }));

describe('ask without a model', () => {
  it('[LLM-4] gets one error that names the missing settings, and everything else works', async () => {
    const asked = await portico.api('POST', '/api/v1/ask', { request: 'read note 1' });
    const { code, detail } = await asked.json<Problem>();
    expect([asked.status, code]).toEqual([503, 'model_missing']);
    for (const setting of ['API', 'KEY', 'URL'])
      expect(detail).toContain(`PORTICO_MODEL_${setting}`);
    const call = { name: 'notes.read_note', arguments: {} };
    expect((await portico.api('POST', '/api/v1/tools/call', call)).status).toBe(200);
    expect((await portico.api('POST', '/api/v1/search', { query: 'note' })).status).toBe(200);
    await allow({ server: 'notes', tool: 'read_*' });
  });

  it('[LLM-4] is refused to a token that may not call', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:read'] });
    const asked = await portico.api('POST', '/api/v1/ask', { request: 'x' }, { token });
    expect([asked.status, (await asked.json<Problem>()).code]).toEqual([403, 'forbidden']);
  });

  it.each([{}, { request: 1 }, { request: 'x', more: true }, { request: 'x', dry_run: 'yes' }])(
    '[LLM-4] accepts no other body: %j',
    async body => {
      expect((await portico.api('POST', '/api/v1/ask', body)).status).toBe(422);
    },
  );
});

type Era = 'legacy' | 'modern';
async function rpc(
  era: Era,
  method: string,
  params: Record<string, unknown>,
  path = '/mcp?tools=ask',
  token?: string,
  through: Portico = portico,
): Promise<{ text: string; answer: RpcAnswer }> {
  const { message, headers } = toCall(era, method, params);
  const sent = { headers: { ...WHOLE, ...headers }, ...(token === undefined ? {} : { token }) };
  const text = await (await through.post(message, sent, path)).text();
  return { text, answer: JSON.parse(text) as RpcAnswer };
}

describe('the endpoint with one tool', () => {
  it.each<Era>(['legacy', 'modern'])(
    '[LLM-4] lists ask, with the same bytes for everybody: %s',
    async era => {
      const { token } = await createToken(portico, { tools: ['*.nothing'] });
      await portico.api('POST', '/api/v1/toolsets', {
        name: `asked-${era}`,
        include: ['*'],
        tools: 'ask',
      });
      const asking = createPortico({ PORTICO_TOOLS: 'ask' });
      const { text, answer } = await rpc(era, 'tools/list', {});
      expect(answer.result?.tools).toMatchObject([
        {
          name: 'ask',
          inputSchema: { required: ['request'] },
          annotations: { readOnlyHint: false },
        },
      ]);
      const lists = [
        rpc(era, 'tools/list', {}, '/mcp?tools=ask', token),
        rpc(era, 'tools/list', {}, '/mcp/servers/notes?tools=ask'),
        rpc(era, 'tools/list', {}, `/mcp/toolsets/asked-${era}`),
        rpc(era, 'tools/list', {}, '/mcp', undefined, asking),
      ];
      expect(new Set((await Promise.all(lists)).map(list => list.text))).toEqual(new Set([text]));
    },
  );

  it.each<Era>(['legacy', 'modern'])('[LLM-4] answers readably for a model: %s', async era => {
    const use = async (given: object) =>
      (await rpc(era, 'tools/call', { name: 'ask', arguments: given })).answer.result;
    const missing = await use({ request: 'read note 1' });
    expect(missing).toMatchObject({ isError: true, _meta: { 'portico/reason': 'model_missing' } });
    expect(missing?.content?.[0]?.text).toContain('PORTICO_MODEL_URL');
    const wrong = await use({ words: 'x' });
    expect(wrong).toMatchObject({ isError: true, _meta: { 'portico/reason': 'invalid_params' } });
    const call = { name: 'notes.read_note', arguments: {} };
    expect((await rpc(era, 'tools/call', call)).answer.result?.['isError'] ?? false).toBe(false);
  });

  it('[LLM-4] refuses a caller without the right to call, and ask is no tool of other endpoints', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:read'] });
    const params = { name: 'ask', arguments: { request: 'x' } };
    const refused = await rpc('modern', 'tools/call', params, '/mcp?tools=ask', token);
    const asked = await rpc('modern', 'tools/call', params, '/mcp');
    expect([refused.answer.error?.code, asked.answer.error?.message]).toEqual([
      4030,
      'Tool name must be prefixed with server key: ask',
    ]);
  });
});

describe('the allow-list of ask', () => {
  it('[LLM-4] is edited by administrators, with a row for each change', async () => {
    const server = await register(portico, 'papers', { auto_connect: false });
    const before = (await listChain(env.DB, 'admin', 1, 10_000)).length;
    const made = await allow({ server: 'PAPERS', tool: 'delete_paper', side_effects: true });
    expect(made).toMatchObject({
      server: 'papers',
      side_effects: true,
      subject: { kind: 'everyone' },
    });
    const read = await portico.api('GET', `${PATH}/${made.id}`);
    expect([read.headers.get('etag'), await read.json<Entry>()]).toEqual(['"r1"', made]);
    const stored = await listAllowed(env.DB, 'nobody');
    expect(stored).toContainEqual({ server: server.id, tool: 'delete_paper', sideEffects: true });
    expect((await portico.api('DELETE', `${PATH}/${made.id}`)).status).toBe(204);
    expect((await portico.api('GET', `${PATH}/${made.id}`)).status).toBe(404);
    expect((await portico.api('DELETE', `${PATH}/${made.id}`)).status).toBe(404);
    const rows = (await listChain(env.DB, 'admin', 1, 10_000)).slice(before);
    expect(rows.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['ask_allowlist.create', 'done'],
      ['ask_allowlist.delete', 'done'],
      ['ask_allowlist.delete', 'failed'],
    ]);
    expect(rows[0]?.detail).toMatchObject({ tool: 'delete_paper', side_effects: true });
  });

  it.each([
    ['side_effects', { server: '*', tool: 'delete', side_effects: true }],
    ['side_effects', { server: 'papers', tool: 'delete_*', side_effects: true }],
    ['server', { server: 'nowhere', tool: '*' }],
    ['subject.id', { server: '*', tool: '*', subject: { kind: 'principal', id: 'nobody' } }],
    ['tool', { server: '*', tool: '' }],
    ['server', { tool: '*' }],
  ])('[LLM-4] reports what is wrong with %s', async (field, body) => {
    const response = await portico.api('POST', PATH, body);
    const { code, errors } = await response.json<Problem>();
    expect([response.status, code]).toEqual([422, 'validation_failed']);
    expect(errors?.map(problem => problem.field)).toContain(field);
  });

  it('[LLM-4] is listed newest first, page by page', async () => {
    for (let i = 0; i < 3; i += 1) await allow({ server: '*', tool: `paged_${i}` });
    const seen: string[] = [];
    let query = '?limit=2';
    for (let page = 0; page < 20 && query !== ''; page += 1) {
      const answer = await portico.api('GET', `${PATH}${query}`);
      const { entries, next_cursor: next } = await answer.json<{
        entries: Entry[];
        next_cursor?: string;
      }>();
      expect(entries.length).toBeLessThanOrEqual(2);
      seen.push(...entries.map(({ tool }) => tool));
      query = next === undefined ? '' : `?limit=2&cursor=${encodeURIComponent(next)}`;
    }
    expect(seen.filter(tool => tool.startsWith('paged_')).toSorted()).toEqual([
      'paged_0',
      'paged_1',
      'paged_2',
    ]);
  });

  it('[LLM-4] has entries for everyone, for a group and for one principal', async () => {
    const person = async (groups: string[]) => {
      const body = { name: 'someone', groups };
      return (await (await portico.api('POST', '/api/v1/principals', body)).json<{ id: string }>())
        .id;
    };
    const [ada, bob] = [await person(['readers']), await person([])];
    await allow({ server: '*', tool: 'of_all' });
    await allow({ server: '*', tool: 'of_readers', subject: { kind: 'group', name: 'readers' } });
    const own = await allow({
      server: '*',
      tool: 'of_bob',
      subject: { kind: 'principal', id: bob },
    });
    const toolsOf = async (id: string) =>
      (await listAllowed(env.DB, id))
        .map(({ tool }) => tool)
        .filter(tool => tool.startsWith('of_'));
    expect((await toolsOf(ada)).toSorted()).toEqual(['of_all', 'of_readers']);
    expect((await toolsOf(bob)).toSorted()).toEqual(['of_all', 'of_bob']);
    expect(await toolsOf('somebody-else')).toEqual(['of_all']);
    await addIdentity(bob, ['readers']);
    await addIdentity(bob, ['elsewhere'], -1);
    await allow({ server: '*', tool: 'of_ended', subject: { kind: 'group', name: 'elsewhere' } });
    expect((await toolsOf(bob)).toSorted()).toEqual(['of_all', 'of_bob', 'of_readers']);
    await portico.api('DELETE', `/api/v1/principals/${bob}`);
    expect((await portico.api('GET', `${PATH}/${own.id}`)).status).toBe(404);
  });

  it('[LLM-4] loses the entries of a deleted server', async () => {
    const { id } = await register(portico, 'passing', { auto_connect: false });
    const entry = await allow({ server: 'passing', tool: '*' });
    expect((await portico.api('DELETE', `/api/v1/aggregator/servers/${id}`)).status).toBe(204);
    expect((await portico.api('GET', `${PATH}/${entry.id}`)).status).toBe(404);
  });
});
