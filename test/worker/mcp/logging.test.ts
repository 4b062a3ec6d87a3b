/** Log levels: set for a legacy session or requested by a modern request, forwarded to servers of both eras. */
import { describe, expect, it } from 'vitest';
import { FakeServer, resultOf, serve, streamOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  registerConnected,
  type Portico,
  type RpcAnswer,
} from '../support/portico.ts';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const log = (level: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level, data: `a ${level} message` },
});

let made = 0;

/** A server that logs two messages in each call, with its own name. */
async function createLogger(era: 'legacy' | 'modern') {
  made += 1;
  const own = `logger-${made}`;
  const server = new FakeServer({ era, capabilities: { logging: {} } });
  const base = era === 'modern' ? { resultType: 'complete' } : {};
  server.call = async post => {
    const response = resultOf(post, { ...base, content: [] });
    return streamOf(log('debug'), log('error'), await response.json());
  };
  serve({ [own]: server });
  const portico = createPortico();
  await registerConnected(portico, own);
  server.posts.length = 0;
  return { server, portico, name: `${own}.echo` };
}

/** Levels of the log messages in a response. */
async function levelsIn(response: Response): Promise<string[]> {
  const text = await response.text();
  return [...text.matchAll(/"level":"(\w+)"/g)].map(([, level]) => level ?? '');
}

function callModern(portico: Portico, name: string, level?: unknown) {
  const { message, headers } = modern('tools/call', { name });
  if (level !== undefined) Object.assign(message.params._meta, { [LOG_LEVEL]: level });
  return portico.post(message, { headers });
}

describe('logging/setLevel', () => {
  it('[MCP-4] is stored with the session and sent to a legacy server once per change', async () => {
    const { server, portico, name } = await createLogger('legacy');
    const session = await initialize(portico);
    const sent = { headers: inSession(session) };
    const levels = () => server.of('logging/setLevel').map(({ params }) => params['level']);
    const call = () => portico.post(legacy('tools/call', { name }), sent);
    expect(await levelsIn(await call())).toEqual(['debug', 'error']);
    expect(levels()).toEqual([]);
    const answer = await portico.post(legacy('logging/setLevel', { level: 'error' }, 7), sent);
    expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    expect(await levelsIn(await call())).toEqual(['error']);
    await (await call()).text();
    expect(levels()).toEqual(['error']);
    await portico.post(legacy('logging/setLevel', { level: 'debug' }), sent);
    expect(await levelsIn(await call())).toEqual(['debug', 'error']);
    expect(levels()).toEqual(['error', 'debug']);
  });

  it('[MCP-4] [MCP-10] reaches a session that is opened later, also from another isolate', async () => {
    const { server, portico, name } = await createLogger('legacy');
    const session = await initialize(portico);
    const sent = { headers: inSession(session) };
    await portico.post(legacy('logging/setLevel', { level: 'warning' }), sent);
    const other = createPortico();
    expect(await levelsIn(await other.post(legacy('tools/call', { name }), sent))).toEqual([
      'error',
    ]);
    server.sessions.clear();
    expect(await levelsIn(await other.post(legacy('tools/call', { name }), sent))).toEqual([
      'error',
    ]);
    const set = server
      .of('logging/setLevel')
      .filter(({ session: id }) => server.sessions.has(id ?? ''));
    expect(set.map(({ params }) => params)).toEqual([{ level: 'warning' }]);
  });

  it('[MCP-4] [MCP-5] goes with each request to a modern server', async () => {
    const { server, portico, name } = await createLogger('modern');
    const session = await initialize(portico);
    const sent = { headers: inSession(session) };
    await (await portico.post(legacy('tools/call', { name }), sent)).text();
    await portico.post(legacy('logging/setLevel', { level: 'info' }), sent);
    await (await portico.post(legacy('tools/call', { name }), sent)).text();
    const metas = server.of('tools/call').map(({ params }) => params['_meta']);
    expect(metas).toEqual([
      expect.not.objectContaining({ [LOG_LEVEL]: expect.anything() as unknown }),
      expect.objectContaining({ [LOG_LEVEL]: 'info' }),
    ]);
  });

  it('[MCP-4] [MCP-10] requires a session, and a level that exists', async () => {
    const portico = createPortico();
    const bare = await portico.post(legacy('logging/setLevel', { level: 'info' }));
    expect(bare.status).toBe(400);
    const headers = inSession(await initialize(portico));
    for (const params of [{ level: 'loud' }, { level: 3 }, {}]) {
      const refused = await portico.post(legacy('logging/setLevel', params), { headers });
      expect((await refused.json<RpcAnswer>()).error?.code).toBe(-32602);
    }
    const { message, headers: envelope } = modern('logging/setLevel', { level: 'info' });
    expect((await portico.post(message, { headers: envelope })).status).toBe(404);
  });
});

describe('the log level of a modern request', () => {
  it('[MCP-4] [MCP-5] is set at a legacy server, and only the requested messages come back', async () => {
    const { server, portico, name } = await createLogger('legacy');
    expect(await levelsIn(await callModern(portico, name))).toEqual([]);
    expect(server.of('logging/setLevel')).toEqual([]);
    expect(await levelsIn(await callModern(portico, name, 'debug'))).toEqual(['debug', 'error']);
    expect(await levelsIn(await callModern(portico, name, 'debug'))).toEqual(['debug', 'error']);
    expect(await levelsIn(await callModern(portico, name, 'error'))).toEqual(['error']);
    expect(await levelsIn(await callModern(portico, name))).toEqual([]);
    const levels = server.of('logging/setLevel').map(({ params }) => params['level']);
    expect(levels).toEqual(['debug', 'error']);
    expect(server.of('tools/call').at(-1)?.text).not.toContain(LOG_LEVEL);
  });

  it('[MCP-4] [MCP-5] is set if an object makes the call, for a client with capabilities', async () => {
    const { server, portico, name } = await createLogger('legacy');
    const call = async (level: string) => {
      const { message, headers } = modern('tools/call', { name });
      Object.assign(message.params._meta, {
        'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
        [LOG_LEVEL]: level,
      });
      return levelsIn(await portico.post(message, { headers }));
    };
    expect(await call('debug')).toEqual(['debug', 'error']);
    expect(await call('error')).toEqual(['error']);
    const levels = server.of('logging/setLevel').map(({ params }) => params['level']);
    expect(levels).toEqual(['debug', 'error']);
  });

  it('[MCP-4] goes to a modern server unchanged', async () => {
    const { server, portico, name } = await createLogger('modern');
    await (await callModern(portico, name, 'notice')).text();
    expect(server.of('tools/call').at(-1)?.params['_meta']).toMatchObject({
      [LOG_LEVEL]: 'notice',
    });
  });

  it('[MCP-4] is refused if no such level exists', async () => {
    const { server, portico, name } = await createLogger('modern');
    const response = await callModern(portico, name, 'loud');
    expect((await response.json<RpcAnswer>()).error?.code).toBe(-32602);
    expect(server.of('tools/call')).toEqual([]);
  });
});

it('[MCP-4] logging is advertised if a server of the endpoint has it', async () => {
  serve({ quiet: new FakeServer(), talkative: new FakeServer({ capabilities: { logging: {} } }) });
  const portico = createPortico();
  await registerConnected(portico, 'quiet');
  await registerConnected(portico, 'talkative');
  const offered = async (path: string) => {
    const { message, headers } = ask('modern', 'server/discover');
    const response = await portico.post(message, { headers }, path);
    return (await response.json<RpcAnswer>()).result?.['capabilities'];
  };
  expect(await offered('/mcp')).toHaveProperty('logging');
  expect(await offered('/mcp/servers/talkative')).toHaveProperty('logging');
  expect(await offered('/mcp/servers/quiet')).not.toHaveProperty('logging');
});
