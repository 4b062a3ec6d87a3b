/**
 * Failures of other gateways, tried on this one (the ids are in `test/cve-regressions.ts`): every route of the API's own description and
 * every MCP endpoint, with credentials, headers, origins and names that must have no effect.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ScopeSchema, type Scope } from '../../../src/shared/identity/principal.ts';
import { createRandom, SEED, type Random } from '../../unit/seeded.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  ADMIN,
  ask,
  createPortico,
  createToken,
  legacy,
  register,
  registerConnected,
  SERVERS,
  whenServer,
  WHOLE,
} from '../support/portico.ts';

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  security?: { bearer?: Scope[] }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}
type Route = [method: string, path: string, operation: Operation];

const portico = createPortico();
const server = new FakeServer();
let seen: ReturnType<typeof serve>;

async function loadRoutes(): Promise<Route[]> {
  const { paths } = await (await portico.api('GET', '/openapi.json')).json<OpenApi>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => [
      method.toUpperCase(),
      path.replaceAll(/\{\w+\}/gu, 'MISSING'),
      operation,
    ]),
  );
}

const MCP: Route[] = [
  '/mcp',
  '/mcp/servers/kept',
  '/mcp/toolsets/kept',
  '/sse',
  '/messages',
].flatMap(path => ['GET', 'POST', 'DELETE'].map((method): Route => [method, path, {}]));
const routes = [...(await loadRoutes()), ...MCP];

function send([method, path, { requestBody }]: Route, headers: Record<string, string>) {
  const [media] = Object.values(requestBody?.content ?? {});
  const body =
    method === 'GET' ? undefined : JSON.stringify(media?.example ?? legacy('tools/list'));
  return portico.fetch(path, {
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

beforeAll(async () => {
  serve({ kept: server });
  await registerConnected(portico, 'kept');
});
beforeEach(() => {
  seen = serve({ kept: server });
});

/** An invalid credential: a real one with one defect. */
function spoilt(random: Random): string {
  const at = random.below(ADMIN.length);
  const char = random.pick([...'AZaz09-_=.:;, %\\/+é']);
  const value = random.pick([
    `${ADMIN.slice(0, at)}${char}${ADMIN.slice(at)}`,
    `${ADMIN.slice(0, at)}${ADMIN.slice(at + 1)}`,
    [...ADMIN].toReversed().join(''),
    ADMIN.slice(0, 8) + ADMIN.slice(8).toUpperCase(),
    ADMIN.repeat(2),
  ]);
  const scheme = random.pick(['Bearer', 'bearer', 'Basic', 'Token', 'Bearer Bearer', '']);
  return encodeURI(`${scheme} ${value}`);
}

describe(`an invalid credential, seed ${SEED}`, () => {
  it('[ACC-1] opens no route in 200 forms, and none without one, whatever the body claims', async () => {
    const random = createRandom(SEED);
    const values = Array.from({ length: 200 }, () => spoilt(random));
    const own = values.filter(value => /^bearer +/iu.test(value) && value.endsWith(` ${ADMIN}`));
    expect(own).toEqual([]);
    const before = seen.length;
    const open: unknown[] = [];
    for (const [i, authorization] of values.entries()) {
      const route = routes[i % routes.length];
      if (!route) continue;
      const { status } = await send(route, { authorization });
      if (status !== 401) open.push([route[0], route[1], authorization, status]);
    }
    for (const route of routes) {
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
        const { status } = await send(route, { 'content-type': type });
        if (status !== 401) open.push([route[0], route[1], type, status]);
      }
    }
    expect(open).toEqual([]);
    expect(seen.length).toBe(before);
  });

  it('[ACC-2] a scope opens routes that require it, and no others', async () => {
    const wrong: unknown[] = [];
    for (const scope of ScopeSchema.options.filter(known => known !== 'admin')) {
      const { token } = await createToken(portico, { scopes: [scope] });
      for (const route of routes) {
        const wanted = route[2].security?.[0]?.bearer?.[0];
        if (wanted === undefined || wanted === scope) continue;
        const response = await send(route, { authorization: `Bearer ${token}` });
        if (response.status !== 403) wrong.push([scope, route[0], route[1], response.status]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['no admin token', { PORTICO_ADMIN_TOKEN: undefined }],
    ['an empty admin token', { PORTICO_ADMIN_TOKEN: '' }],
  ])('[ACC-1] %s lets nobody in', async (_what, settings) => {
    const bare = createPortico(settings as never);
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Bearer undefined', `Bearer ${ADMIN}`]) {
      const { status } = await bare.fetch(SERVERS, { headers: { authorization } });
      expect([authorization, status]).toEqual([authorization, 401]);
    }
  });

  it.each(['x', 'portico_', `portico_${'*'.repeat(43)}`, ' '])(
    '[ACC-1] the admin token %j starts nothing',
    async token => {
      const broken = createPortico({ PORTICO_ADMIN_TOKEN: token });
      await expect(broken.api('GET', SERVERS)).rejects.toThrow('PORTICO_ADMIN_TOKEN');
    },
  );
});

/** Headers that misled other gateways. */
function strayHeader(random: Random): [name: string, value: string] {
  const stem = random.pick([
    'forwarded',
    'original',
    'internal',
    'upstream',
    'real',
    'init',
    'proxy',
  ]);
  const tail = random.pick([
    'host',
    'url',
    'user',
    'server',
    'for',
    'proto',
    'route',
    'admin',
    'key',
  ]);
  const prefix = random.pick(['x-', 'cf-', 'mcp-', 'x-mcp-', 'x-portico-', 'portico-', '']);
  const value = random.pick([
    'evil.example',
    'https://evil.example/mcp',
    'true',
    'admin',
    '1',
    'kept',
  ]);
  return [`${prefix}${stem}-${tail}${random.below(3) === 0 ? `-${random.below(9)}` : ''}`, value];
}

describe(`a header of a client, seed ${SEED}`, () => {
  it('[SEC-2] [SEC-3] chooses no upstream and reaches none: 300 names', async () => {
    const random = createRandom(SEED);
    const call = ask('legacy', 'tools/call', { name: 'kept.echo', arguments: { a: 1 } });
    const plain = await (await portico.post(call.message, { headers: WHOLE })).text();
    expect(plain).toContain('"result"');
    const names = new Set<string>();
    while (names.size < 300) {
      const [name, value] = strayHeader(random);
      names.add(name);
      const answer = await portico.post(call.message, { headers: { ...WHOLE, [name]: value } });
      expect([name, await answer.text()]).toEqual([name, plain]);
      const last = server.of('tools/call').at(-1);
      expect([name, last?.headers.get(name)]).toEqual([name, null]);
    }
    expect(seen.length).toBeGreaterThan(300);
    expect(seen.filter(request => !request.includes(' https://kept.example.com/'))).toEqual([]);
  });
});

/** Placeholders that other products fill in. */
const PLACEHOLDERS = ['HOME', 'PATH', 'PORTICO_KEYS', 'PORTICO_ADMIN_TOKEN', 'user.id'].flatMap(
  name => [
    `{{${name}}}`,
    `{{ ${name} }}`,
    `{${name}}`,
    `%${name}%`,
    `$${name}`,
    `$(${name})`,
    `\${env:${name}}`,
    `\${input:${name}}`,
    `<%= ${name} %>`,
    `#{${name}}`,
  ],
);

describe(`${PLACEHOLDERS.length} placeholders of others`, () => {
  it('[UP-4] [SEC-1] are filled only from a stored secret', async () => {
    const literal = PLACEHOLDERS.filter(value => !value.includes('${'));
    // A server takes 32 headers.
    const values = literal
      .map((value, i) => `${value} ${literal[i + 1] ?? ''}x`)
      .filter((_, i) => i % 2 === 0);
    const headers = Object.fromEntries(values.map((value, i) => [`x-${i}`, value]));
    const connection_config = { url: 'https://literal.example.com/mcp', headers };
    serve({ literal: server, kept: server });
    await registerConnected(portico, 'literal', { connection_config });
    const call = ask('legacy', 'tools/call', { name: 'literal.echo', arguments: {} });
    expect((await portico.post(call.message)).status).toBe(200);
    const sent = server.of('tools/call').at(-1)?.headers;
    expect(values.map((_, i) => sent?.get(`x-${i}`))).toEqual(values);
  });

  it('[UP-4] [SEC-1] ${PORTICO_KEYS} waits for a secret of that name, and no setting is one', async () => {
    const named = new FakeServer();
    serve({ named });
    const connection_config = {
      url: 'https://named.example.com/mcp',
      headers: { a: '${PORTICO_KEYS}' },
    };
    const { id } = await register(portico, 'named', { connection_config });
    const { last_error: why } = await whenServer(portico, id, ({ status }) => status === 'ERROR');
    expect(why).toBe('missing secret PORTICO_KEYS');
    expect(named.posts).toEqual([]);
  });

  it.each(PLACEHOLDERS.filter(value => value.includes('${')))(
    '[UP-4] [SEC-1] %s is no stored secret and is refused',
    async value => {
      const connection_config = { url: 'https://x.example.com/mcp', headers: { a: value } };
      const body = { name: 'x', transport_type: 'HTTP', connection_config };
      expect((await portico.api('POST', SERVERS, body)).status).toBe(422);
    },
  );
});

describe('an origin', () => {
  const ORIGINS = ['https://evil.example', 'null', 'http://127.0.0.1.evil.example', 'file://'];

  it('[SEC-5] that is not ours gets 403 on every route, with every method', async () => {
    const wrong: unknown[] = [];
    for (const [method, path, operation] of routes) {
      for (const origin of ORIGINS) {
        for (const way of [method, 'OPTIONS']) {
          const headers = { origin, authorization: `Bearer ${ADMIN}` };
          const answer = await send([way, path, operation], headers);
          const allowed = answer.headers.get('access-control-allow-origin');
          if (answer.status !== 403 || allowed !== null)
            wrong.push([way, path, origin, answer.status]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe(`a name of a scope, seed ${SEED}`, () => {
  it('[MCP-3] [ACC-3] that does not exist is never another scope: 500 names', async () => {
    const random = createRandom(SEED);
    const chars = [...'keptKEPT-_.:%/\\*~é0'];
    const wrong: unknown[] = [];
    for (let i = 0; i < 500; i += 1) {
      const length = 1 + random.below(8);
      const name = Array.from({ length }, () => random.pick(chars)).join('');
      if (name === 'kept') continue;
      const kind = random.pick(['servers', 'toolsets']);
      const path = `/mcp/${kind}/${random.chance(0.5) ? encodeURIComponent(name) : name}`;
      const response = await portico.post(legacy('tools/list'), {}, path);
      const text = await response.text();
      if (response.status !== 404 || text.includes('echo'))
        wrong.push([path, response.status, text]);
    }
    expect(wrong).toEqual([]);
  });
});
