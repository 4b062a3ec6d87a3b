/** Credentials on their way to a server: references filled, changes applied, and nothing sent if something is wrong. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, serve, type FakeServerOptions } from '../support/fake-server.ts';
import {
  createPortico,
  initialize,
  inSession,
  legacy,
  registerConnected,
} from '../support/portico.ts';
import type { Portico, RpcAnswer } from '../support/portico.ts';

const portico = createPortico();
const SECRETS = '/api/v1/secrets';

async function put(name: string, value: string, origin: string): Promise<void> {
  const body = { value, origins: [`https://${origin}.example.com`] };
  expect((await portico.api('PUT', `${SECRETS}/${name}`, body)).status).toBe(200);
}

/** Connects a server with a credential. */
async function connect(name: string, config: object, options: FakeServerOptions = {}) {
  const server = new FakeServer(options);
  serve({ [name]: server });
  const connection_config = { url: `https://${name}.example.com/mcp`, ...config };
  const { id } = await registerConnected(portico, name, { connection_config });
  return { server, id };
}

const call = (at: Portico, name: string) =>
  at.api('POST', '/api/v1/tools/call', { name: `${name}.echo` });
const sentTo = (server: FakeServer) =>
  server.of('tools/call').map(({ headers }) => headers.get('authorization'));

afterEach(() => void vi.useRealTimers());

describe('a named secret', () => {
  it('[UP-4] [SEC-1] is filled in, in headers and as a bearer token', async () => {
    await put('FILLED', 'value-5512', 'filled');
    const config = {
      headers: { 'X-Key': 'a ${FILLED} $${FILLED}' },
      auth: { type: 'bearer', token: '${FILLED}' },
    };
    const { server } = await connect('filled', config);
    expect((await call(portico, 'filled')).status).toBe(200);
    const [{ headers } = { headers: new Headers() }] = server.of('tools/call');
    expect(headers.get('x-key')).toBe('a value-5512 ${FILLED}');
    expect(headers.get('authorization')).toBe('Bearer value-5512');
  });

  it.each(['legacy', 'modern'] as const)(
    '[UP-4] that is changed is used within a second, at a %s server',
    async era => {
      const name = `fresh-${era}`;
      const secret = `FRESH_${era.toUpperCase()}`;
      await put(secret, 'value-1', name);
      const config = { headers: { Authorization: `Bearer \${${secret}}` } };
      const { server } = await connect(name, config, { era });
      vi.useFakeTimers({ toFake: ['Date'] });
      const other = createPortico();
      await call(other, name);
      await other.settle();
      await put(secret, 'value-2', name);
      vi.setSystemTime(Date.now() + 1_001);
      await call(other, name);
      expect(sentTo(server)).toEqual(['Bearer value-1', 'Bearer value-2']);
    },
  );

  it('[UP-4] [UP-2] that is changed causes new sessions at the server', async () => {
    await put('SESSION', 'value-1', 'keyed');
    await connect('keyed', { headers: { 'X-Key': '${SESSION}' } });
    const { server } = { server: new FakeServer() };
    serve({ keyed: server });
    const session = await initialize(portico);
    const callIn = async (at: Portico) => {
      const sent = { headers: inSession(session) };
      const answer = await at.post(legacy('tools/call', { name: 'keyed.echo' }), sent);
      expect((await answer.json<RpcAnswer>()).result?.isError).toBeUndefined();
    };
    await callIn(portico);
    await callIn(createPortico());
    await put('SESSION', 'value-2', 'keyed');
    await callIn(createPortico());
    const seen = server.of('tools/call').map(post => [post.session, post.headers.get('x-key')]);
    expect(seen.map(([, key]) => key)).toEqual(['value-1', 'value-1', 'value-2']);
    expect(seen[1]?.[0]).toBe(seen[0]?.[0]);
    expect(seen[2]?.[0]).not.toBe(seen[0]?.[0]);
  });

  it("[SEC-2] [SEC-8] is removed from a server's error", async () => {
    await put('ECHOED', 'value"with\\quotes', 'echoed');
    const config = { auth: { type: 'bearer', token: '${ECHOED}' } };
    const { server } = await connect('echoed', config, { era: 'modern' });
    server.call = ({ id, headers }) => {
      const message = `not ${headers.get('authorization')}, is ${headers.get('authorization')?.slice(7)}`;
      return Response.json({ jsonrpc: '2.0', id, error: { code: -32000, message } });
    };
    const answer = await (await call(portico, 'echoed')).text();
    expect(answer).toContain('[redacted]');
    expect(answer).not.toContain('quotes');
  });
});

describe('a problem in storage', () => {
  const amiss: [string, (id: string, name: string) => D1PreparedStatement][] = [
    [
      'a secret that is gone',
      (_, n) => env.DB.prepare('DELETE FROM secrets WHERE name = ?').bind(n),
    ],
    [
      'an origin that was written into the row',
      (_, n) =>
        env.DB.prepare(
          'UPDATE secrets SET origins = json_insert(origins, ?, ?) WHERE name = ?',
        ).bind('$[#]', 'https://z.example.com', n),
    ],
    [
      'the value of another secret',
      (_, n) =>
        env.DB.prepare(
          "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'DECOY') WHERE name = ?",
        ).bind(n),
    ],
    [
      'a bearer token in place of the headers',
      id => env.DB.prepare('UPDATE servers SET headers_sealed = auth_sealed WHERE id = ?').bind(id),
    ],
    [
      'another address in the row',
      id =>
        env.DB.prepare("UPDATE servers SET url = 'https://z.example.com/mcp' WHERE id = ?").bind(
          id,
        ),
    ],
    [
      'a key that is not in the ring',
      id =>
        env.DB.prepare(
          "UPDATE servers SET auth_sealed = replace(auth_sealed, '1:k1.', '1:k0.') WHERE id = ?",
        ).bind(id),
    ],
  ];

  it.each(amiss.map(([what, break_], i) => [what, `amiss-${i}`, break_] as const))(
    '[SEC-1] [UP-4] stops the call before it is sent: %s',
    async (_what, name, break_) => {
      const secret = name.toUpperCase().replace('-', '_');
      await put(secret, 'value-8801', name);
      await put('DECOY', 'decoy-8802', name);
      const config = {
        headers: { 'X-Key': `\${${secret}}` },
        auth: { type: 'bearer', token: 'literal-8803' },
      };
      const { server, id } = await connect(name, config, { era: 'modern' });
      const stray = new FakeServer({ era: 'modern' });
      serve({ [name]: server, z: stray });
      await break_(id, secret).run();
      const answer = await call(createPortico(), name);
      expect(answer.status).toBe(502);
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject({ code: 'credential_unavailable' });
      expect(text).not.toMatch(/8801|8802|8803|AMISS/);
      expect([server.of('tools/call'), stray.posts]).toEqual([[], []]);
    },
  );
});
