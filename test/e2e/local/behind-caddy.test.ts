/**
 * A gateway for a team behind a real Caddy with TLS: clients of both SDKs, a page of the public origin and a connector get through; a
 * foreign Host, a foreign Origin and a forged address do not, whichever way they come.
 */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort, startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startCaddy, type Caddy } from '../support/caddy.ts';
import { ConnectStand } from '../support/connect-process.ts';
import { openModern, resultOf, textOf } from '../support/raw-client.ts';
import { clientNames, clients } from '../support/sdk-clients.ts';
import { ask, sendRaw, startTeamGateway, type TeamGateway } from '../support/team-gateway.ts';

const PER_MINUTE = 150;
/** Not the proxy's address, which is trusted. */
const [ONE, TWO, THREE] = ['127.0.0.7', '127.0.0.8', '127.0.0.9'];
const SERVERS = '/api/v1/aggregator/servers';

let origin: string;
let gateway: TeamGateway;
let caddy: Caddy;
let upstream: Upstream;

beforeAll(async () => {
  const port = await findFreePort();
  origin = `https://localhost:${port}`;
  const args = ['--host', '127.0.0.1', '--public-url', origin, '--trusted-proxies', '127.0.0.1'];
  [gateway, upstream] = await Promise.all([
    startTeamGateway(args, {
      PORTICO_NETWORK: 'loopback',
      PORTICO_ADDRESS_RATE_LIMIT: String(PER_MINUTE),
    }),
    startFixture('rich-modern'),
  ]);
  const target = `127.0.0.1:${gateway.port}`;
  caddy = await startCaddy({ names: ['localhost', 'evil.example'], port, target });
  setDefaultCACertificates([...getCACertificates('default'), caddy.ca]);
});

afterAll(async () => {
  setDefaultCACertificates(getCACertificates('bundled'));
  await Promise.all([gateway?.stop(), caddy?.stop(), upstream?.stop()]);
});

const authorization = () => `Bearer ${gateway.adminToken}`;
const target = () => ({ url: `${origin}/mcp`, token: gateway.adminToken });
const own = () => new URL(origin).host;

/** Sends a request through Caddy. */
const through = (path: string, headers: Record<string, string> = {}, from = ONE) =>
  ask(`${origin}${path}`, { ca: caddy.ca, headers, from, servername: 'localhost' });
/** Sends a request directly, around Caddy. */
const around = (path: string, headers: Record<string, string> = {}, from = THREE) =>
  ask(`http://127.0.0.1:${gateway.port}${path}`, { headers, from });

describe('legitimate traffic', () => {
  beforeAll(async () => {
    const server = {
      name: 'rich',
      transport_type: 'HTTP',
      connection_config: { url: `${upstream.origin}/mcp` },
    };
    const made = await fetch(`${origin}${SERVERS}`, {
      method: 'POST',
      headers: { authorization: authorization(), 'content-type': 'application/json' },
      body: JSON.stringify(server),
    });
    if (made.status !== 201) throw new Error(`${made.status} ${await made.text()}`);
    await until('the server works', 60_000, async () => {
      const answer = await openModern(target()).call('rich.echo', { message: 'hi' });
      return textOf(answer) === 'Echo: hi' ? true : undefined;
    });
  });

  it.each(clientNames.filter(name => name.startsWith('SDK')))(
    '[OPS-5] a client of %s lists and calls',
    async name => {
      const client = await clients[name](target());
      const tools = (await client.listTools()).map(tool => tool.name);
      expect(tools).toContain('rich.echo');
      const { content } = await client.callTool('rich.echo', { message: name });
      expect(content).toEqual([{ type: 'text', text: `Echo: ${name}` }]);
      await client.close();
    },
  );

  it('[OPS-5] a page of the public origin calls', async () => {
    const headers = { origin, authorization: authorization() };
    const listed = await through('/api/v1/tools', headers);
    expect([listed.status, listed.headers['access-control-allow-origin']]).toEqual([
      200,
      undefined,
    ]);
    expect((await through('/setup', { origin })).status).toBe(200);
  });

  it('[OPS-5] the configuration for clients has the public address', async () => {
    const exported = '/api/v1/aggregator/export?format=client&client=cursor';
    const { text } = await through(exported, { authorization: authorization() });
    expect(text).toContain(`${origin}/mcp`);
    expect(gateway.output()).toContain(`${origin}/mcp`);
    expect(gateway.output()).not.toContain(gateway.adminToken);
  });

  it('[OPS-5] [MCP-7] a large call passes unchanged', async () => {
    const message = 'ä'.repeat(1_000_000);
    const answer = await openModern(target()).call('rich.echo', { message });
    expect(resultOf(answer).content[0]?.text).toBe(`Echo: ${message}`);
  });

  it('[OPS-5] [CLI-1] a connector dials in', async () => {
    const stand = await ConnectStand.create();
    const file = stand.write('mcp.json', { mcpServers: { box: stand.tools('box') } });
    const env = { PORTICO_TOKEN: gateway.adminToken, NODE_EXTRA_CA_CERTS: caddy.caFile };
    const args = ['--url', origin, '--enroll', 'build-box', '--config', file];
    const connecting = stand.start(args, env);
    try {
      const listed = await until('the program is listed', 60_000, async () => {
        const { text } = await through('/api/v1/tools', { authorization: authorization() });
        return text.includes('"box"') && text.includes('CONNECTED') ? text : undefined;
      }).catch(error => `${String(error)}\n${connecting.output()}`);
      expect(listed).toContain('"servers"');
    } finally {
      await stand.remove();
    }
  });

  it('[OPS-5] a health check uses the public name', async () => {
    for (const path of ['/health', '/health/live', '/health/ready']) {
      expect((await around(path, { host: own() })).status).toBe(200);
    }
  });
});

describe('a foreign Host', () => {
  const HOSTS = ['evil.example', '127.0.0.1', 'localhost', 'localhost:1', '[::1]', '10.0.0.1'];

  it('[OPS-5] [SEC-5] is refused behind the proxy', async () => {
    const { port } = new URL(origin);
    for (const path of ['/health', '/mcp', '/api/v1/tools', '/setup', '/connect']) {
      const headers = { host: `evil.example:${port}`, authorization: authorization() };
      const { status, text } = await through(path, headers);
      expect([path, status]).toEqual([path, 403]);
      expect(text).toContain('origin_refused');
    }
  });

  it('[OPS-5] [SEC-5] is refused around the proxy', async () => {
    for (const host of HOSTS) {
      const { status } = await around('/health', { host, authorization: authorization() });
      expect([host, status]).toEqual([host, 403]);
    }
  });

  it.each([
    ['twice', (host: string) => ['GET /health HTTP/1.1', `Host: ${host}`, 'Host: evil.example']],
    [
      'twice the same',
      (host: string) => ['GET /health HTTP/1.1', `Host: ${host}`, `Host: ${host}`],
    ],
    ['missing', () => ['GET /health HTTP/1.1']],
    ['malformed', () => ['GET /health HTTP/1.1', 'Host: a b']],
    [
      'in the target',
      (host: string) => ['GET http://evil.example/health HTTP/1.1', `Host: ${host}`],
    ],
  ])('[OPS-5] [SEC-5] that is %s gets 400', async (_, lines) => {
    const answer = await sendRaw(gateway.port, `${lines(own()).join('\r\n')}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /u);
  });
});

describe('an unusual request', () => {
  it('[OPS-5] [SEC-5] does not reach the runtime behind HTTP', async () => {
    const lines = ['CONNECT miniflare-unsafe-internal-capnp-connect HTTP/1.1', `Host: ${own()}`];
    expect(await sendRaw(gateway.port, `${lines.join('\r\n')}\r\n\r\n`)).not.toMatch(/ 200 /u);
  });

  it('[OPS-5] [SEC-5] with two lengths is refused, and smuggles no second request', async () => {
    const smuggled = `GET /health HTTP/1.1\r\nHost: ${own()}\r\n\r\n`;
    for (const lengths of [
      ['Content-Length: 0', 'Transfer-Encoding: chunked'],
      ['Content-Length: 0', `Content-Length: ${smuggled.length}`],
      ['Transfer-Encoding: chunked, identity'],
    ]) {
      const lines = ['DELETE /mcp HTTP/1.1', `Host: ${own()}`, ...lengths];
      const answer = await sendRaw(gateway.port, `${lines.join('\r\n')}\r\n\r\n${smuggled}`);
      expect(answer.match(/^HTTP\/1\.1 \d+/gmu)).toEqual(['HTTP/1.1 400']);
    }
  });

  it('[OPS-5] with a body of unknown length stays one request', async () => {
    const smuggled = `GET /health HTTP/1.1\r\nHost: ${own()}\r\n\r\n`;
    const lines = [
      'DELETE /mcp HTTP/1.1',
      `Host: ${own()}`,
      'Transfer-Encoding: chunked',
      'Connection: close',
    ];
    const body = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    const answer = await sendRaw(gateway.port, `${lines.join('\r\n')}\r\n\r\n${body}`);
    expect(answer.match(/^HTTP\/1\.1 \d+/gmu)).toEqual(['HTTP/1.1 401']);
    // Nothing of it remains on the connection that the next request uses.
    expect((await around('/health/live', { host: own() })).text).toBe('{"status":"ok"}');
  });
});

describe('a foreign Origin', () => {
  it.each(['https://evil.example', 'http://localhost', 'http://localhost:3000', 'null'])(
    '[OPS-5] [SEC-5] is refused: %s',
    async page => {
      const headers = { origin: page, authorization: authorization() };
      for (const path of ['/mcp', '/sse', '/api/v1/tools', '/setup']) {
        const { status, headers: got } = await through(path, headers);
        expect([path, status]).toEqual([path, 403]);
        expect(got['access-control-allow-origin']).toBeUndefined();
      }
    },
  );
});

describe('an address', () => {
  /** Sends `count` requests, each with another forged address. @returns how many passed */
  async function flood(count: number, send: (forged: string) => Promise<{ status: number }>) {
    let passed = 0;
    for (let sent = 0; sent < count; sent++) {
      const { status } = await send(`203.0.113.${sent % 250}`);
      if (status !== 429) passed += 1;
    }
    return passed;
  }
  // The limit's minute may change once during the requests.
  const MOST = 2 * PER_MINUTE;
  const COUNT = 3 * PER_MINUTE;

  it('[OPS-5] [ACC-6] that is forged changes nothing behind the proxy, and others still get through', async () => {
    const passed = await flood(COUNT, forged =>
      through('/health/live', { 'x-forwarded-for': forged }, TWO),
    );
    expect(passed).toBeGreaterThan(0);
    expect(passed).toBeLessThanOrEqual(MOST);
    expect((await through('/health/live', {}, '127.0.0.10')).status).toBe(200);
  });

  it('[OPS-5] [ACC-6] that is forged changes nothing around the proxy, whichever header contains it', async () => {
    const names = ['x-forwarded-for', 'cf-connecting-ip', 'x-real-ip', 'forwarded'];
    const passed = await flood(COUNT, forged => {
      const forgeries = Object.fromEntries(names.map(name => [name, forged]));
      return around('/health/live', { host: own(), ...forgeries }, '127.0.0.11');
    });
    expect(passed).toBeLessThanOrEqual(MOST);
    expect((await around('/health/live', { host: own() }, '127.0.0.12')).status).toBe(200);
  });

  it('[OPS-5] [ACC-5] that registers too many clients locks out no other', async () => {
    const registered = (from: string) =>
      ask(`http://127.0.0.1:${gateway.port}/register`, {
        method: 'POST',
        headers: { host: own(), 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
        from,
      });
    const statuses: number[] = [];
    for (let made = 0; made < 31; made += 1) {
      statuses.push((await registered('127.0.0.14')).status);
    }
    expect(statuses).toEqual([...Array<number>(30).fill(201), 429]);
    expect((await registered('127.0.0.15')).status).toBe(201);
  });

  it('[OPS-5] [ACC-6] with too many requests is told when to retry', async () => {
    const from = '127.0.0.13';
    await flood(PER_MINUTE, () => around('/health/live', { host: own() }, from));
    const refused = await until('it is refused', 60_000, async () => {
      const got = await around('/mcp', { host: own() }, from);
      return got.status === 429 ? got : undefined;
    });
    expect(refused.text).toContain('rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  });
});
