/** Endpoints of servers and toolsets for callers who see little: an endpoint without visible items looks as if it did not exist. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  initialize,
  inSession,
  legacy,
  modern,
  registerConnected,
} from '../support/portico.ts';

const portico = createPortico();
const scopes = ['tools:read', 'tools:call'];

beforeAll(async () => {
  serve({
    own: new FakeServer({ tools: [toolOf('open_box'), toolOf('shut_box')] }),
    other: new FakeServer({ tools: [toolOf('open_box')] }),
  });
  await registerConnected(portico, 'own');
  await registerConnected(portico, 'other');
});

/** The answer of an endpoint to server/discover. */
async function answerAt(path: string, token: string | null) {
  const { message, headers } = modern('server/discover');
  const response = await portico.post(message, { token, headers }, path);
  const { error } = await response.json<{ error?: object }>();
  return { status: response.status, error };
}

describe('the endpoint of a server', () => {
  it.each([
    ['all of it', { servers: ['own'] }],
    ['one of its tools', { tools: ['own.open_*'] }],
  ])('[MCP-3] [ACC-3] exists for a caller who sees %s', async (_what, limits) => {
    const { token } = await createToken(portico, { scopes, ...limits });
    expect((await answerAt('/mcp/servers/own', token)).status).toBe(200);
  });

  it.each([
    ['none of its tools', { tools: ['own.lost_*', 'other.*'] }],
    ['another server', { servers: ['other'] }],
  ])('[MCP-3] [ACC-3] looks unknown to a caller who sees %s', async (_what, limits) => {
    const { token } = await createToken(portico, { scopes, ...limits });
    const there = await answerAt('/mcp/servers/own', token);
    expect(there.status).toBe(404);
    expect(there).toEqual(await answerAt('/mcp/servers/never', token));
  });

  it('[ACC-1] refuses a request without a token in the same way, whether it exists or not', async () => {
    const paths = ['/mcp', '/mcp/servers/own', '/mcp/servers/never', '/mcp/toolsets/never'];
    const answers = await Promise.all(paths.map(path => answerAt(path, null)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(new Set(answers.map(({ error }) => JSON.stringify(error))).size).toBe(1);
    const unknown = await answerAt('/mcp', `portico_${'A'.repeat(43)}`);
    expect(unknown.status).toBe(401);
  });
});

describe('a session', () => {
  const ping = (token: string, session: string, path?: string) =>
    portico
      .post(legacy('ping'), { token, headers: inSession(session) }, path)
      .then(({ status }) => status);

  it('[MCP-10] is valid for its token, at its endpoint', async () => {
    const { token } = await createToken(portico, { scopes });
    const other = await createToken(portico, { scopes });
    const session = await initialize(portico, { token });
    expect(await ping(token, session)).toBe(200);
    expect(await ping(token, session, '/mcp/servers/own')).toBe(404);
    expect(await ping(other.token, session)).toBe(404);
    expect(await ping(token, `${session}x`)).toBe(404);
    expect(await ping(token, 'none')).toBe(404);
  });
});
