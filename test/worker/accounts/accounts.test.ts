/** Each principal's calls carry its own account and nobody else's; a principal without one is shown where to connect one. */
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRandom, drawn, SEED } from '../../unit/seeded.ts';
import { createPerson, type Person } from '../support/call-rows.ts';
import { enrol } from '../support/fake-machine.ts';
import { FakeServer, resultOf, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  ORIGIN,
  registerConnected,
  SERVERS,
  whenServer,
} from '../support/portico.ts';

const portico = createPortico();
const KINDS = {
  modern: new FakeServer({ era: 'modern', tools: [toolOf('whoami')] }),
  plain: new FakeServer({ sessionful: false, tools: [toolOf('whoami')] }),
  sessions: new FakeServer({ tools: [toolOf('whoami')] }),
};
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];
const ids = {} as Record<Kind, string>;
let ada: Person;
let bob: Person;
let eve: Person;

/** The server answers with the credential that it got, in a form that is not masked as one. */
function tellWhom(server: FakeServer): void {
  server.call = post => {
    const text = [...(post.headers.get('authorization') ?? '')].toReversed().join('');
    return resultOf(post, { content: [{ type: 'text', text }] });
  };
}

const connect = (person: Person, server: string, token: string) =>
  portico.api('POST', '/api/v1/accounts', { server, token }, { token: person.token });
const call = async (person: Person, name: string) => {
  const { message, headers } = modern('tools/call', { name, arguments: {} });
  const answer = await portico.post(message, { token: person.token, headers });
  const { result } = await answer.json<{
    result: { isError?: boolean; content: { text: string }[]; _meta?: Record<string, unknown> };
  }>();
  return result;
};
const whom = async (person: Person, name: string) =>
  [...((await call(person, name)).content[0]?.text ?? '')].toReversed().join('');

beforeAll(async () => {
  serve(KINDS);
  for (const name of NAMES) {
    ids[name] = (await registerConnected(portico, name, { accounts: 'per_principal' })).id;
  }
});
beforeEach(async () => {
  serve(KINDS);
  for (const name of NAMES) {
    tellWhom(KINDS[name]);
    KINDS[name].posts.length = 0;
  }
  await env.DB.prepare('DELETE FROM accounts').run();
  [ada, bob, eve] = [
    await createPerson(portico),
    await createPerson(portico),
    await createPerson(portico),
  ];
});

describe.each(NAMES)('a server with accounts: %s', name => {
  it('[UP-4] [ACC-8] is called with the account of the caller', async () => {
    expect((await connect(ada, name, 'of-ada')).status).toBe(201);
    expect((await connect(bob, name, 'of-${bob}')).status).toBe(201);
    expect(await whom(ada, `${name}.whoami`)).toBe('Bearer of-ada');
    expect(await whom(bob, `${name}.whoami`)).toBe('Bearer of-${bob}');
    expect((await connect(ada, name, 'other')).status).toBe(201);
    expect(await whom(ada, `${name}.whoami`)).toBe('Bearer other');
    expect(await whom(bob, `${name}.whoami`)).toBe('Bearer of-${bob}');
  });

  it('[UP-4] [ACC-8] is not called for a principal without an account, who gets the link to connect one', async () => {
    await connect(ada, name, 'of-ada');
    const refused = await call(eve, `${name}.whoami`);
    expect([refused.isError, refused._meta?.['portico/reason']]).toEqual([
      true,
      'account_required',
    ]);
    expect(refused.content[0]?.text).toContain(`${ORIGIN}/connect/${name}`);
    expect(KINDS[name].of('tools/call')).toEqual([]);
    const rest = await portico.api(
      'POST',
      '/api/v1/tools/call',
      { name: `${name}.whoami` },
      { token: eve.token },
    );
    expect(rest.status).toBe(403);
    expect(await rest.json()).toMatchObject({
      code: 'account_required',
      connect_url: `${ORIGIN}/connect/${name}`,
    });
    // Without the requests that read the lists of accounts, each with its own token.
    const others = KINDS[name].posts.filter(
      ({ method, headers }) => method !== 'initialize' && !headers.has('authorization'),
    );
    expect(others).toEqual([]);
  });

  it('[UP-4] [ACC-8] uses the session that was opened with the account, also for a client with a session', async () => {
    await connect(ada, name, 'token-of-ada');
    await connect(bob, name, 'token-of-bob');
    const sessions = await Promise.all(
      [ada, bob].map(({ token }) => initialize(portico, { token })),
    );
    const asked = async (at: number, id: number) => {
      const { token } = [ada, bob][at] ?? ada;
      const params = { name: `${name}.whoami`, arguments: {} };
      const answer = await portico.post(legacy('tools/call', params, id), {
        token,
        headers: inSession(sessions[at] ?? ''),
      });
      const { result } = await answer.json<{ result: { content: { text: string }[] } }>();
      return [...(result.content[0]?.text ?? '')].toReversed().join('');
    };
    const told = await Promise.all([0, 1, 0, 1].map((at, i) => asked(at, i)));
    const [a, b] = ['Bearer token-of-ada', 'Bearer token-of-bob'];
    expect(told).toEqual([a, b, a, b]);
    await connect(ada, name, 'newer-of-ada');
    expect(await asked(0, 9)).toBe('Bearer newer-of-ada');
    for (const post of KINDS[name].of('tools/call')) {
      expect([a, b, 'Bearer newer-of-ada', null]).toContain(post.headers.get('authorization'));
    }
  });

  it('[UP-4] [ACC-8] refuses calls of a deleted account, and still serves those of others', async () => {
    const made = await (await connect(ada, name, 'token-of-ada')).json<{ id: string }>();
    await connect(bob, name, 'token-of-bob');
    expect(await whom(ada, `${name}.whoami`)).toBe('Bearer token-of-ada');
    const byBob = await portico.api('DELETE', `/api/v1/accounts/${made.id}`, undefined, bob);
    expect(byBob.status).toBe(404);
    expect(await whom(ada, `${name}.whoami`)).toBe('Bearer token-of-ada');
    const byAda = await portico.api('DELETE', `/api/v1/accounts/${made.id}`, undefined, ada);
    expect(byAda.status).toBe(204);
    expect((await call(ada, `${name}.whoami`))._meta?.['portico/reason']).toBe('account_required');
    expect(await whom(bob, `${name}.whoami`)).toBe('Bearer token-of-bob');
  });

  it('[UP-4] [ACC-8] that refuses an account causes a message to its owner, and does not count as failing', async () => {
    await connect(ada, name, 'token-of-ada');
    await connect(bob, name, 'token-of-bob');
    KINDS[name].outage = () => new Response('no', { status: 401 });
    const refused = await call(ada, `${name}.whoami`);
    KINDS[name].outage = undefined;
    expect(refused._meta?.['portico/reason']).toBe('account_required');
    expect(refused.content[0]?.text).toContain('refuses your account');
    expect(await whom(bob, `${name}.whoami`)).toBe('Bearer token-of-bob');
  });
});

it('[UP-4] [ACC-8] [LLM-5] never has its cached results shared between accounts, whatever the cache rule says', async () => {
  const body = { server: ids.modern, tool: 'whoami', ttl_seconds: 60, public: true };
  const rule = await (
    await portico.api('POST', '/api/v1/cache/rules', body)
  ).json<{ id: string }>();
  await connect(ada, 'modern', 'token-of-ada');
  await connect(bob, 'modern', 'token-of-bob');
  const told = [ada, bob, ada, bob].map(person => () => whom(person, 'modern.whoami'));
  const found: string[] = [];
  for (const ask of told) found.push(await ask());
  await portico.api('DELETE', `/api/v1/cache/rules/${rule.id}`);
  const [a, b] = ['Bearer token-of-ada', 'Bearer token-of-bob'];
  expect(found).toEqual([a, b, a, b]);
});

describe('accounts', () => {
  it('[UP-4] [ACC-8] are seen by their owner and by administrators, without a credential', async () => {
    await connect(ada, 'modern', 'token-of-ada');
    await connect(bob, 'plain', 'token-of-bob');
    const listOf = async (as: { token?: string }) => {
      const answer = await portico.api('GET', '/api/v1/accounts', undefined, as);
      const text = await answer.text();
      expect(text).not.toMatch(/token-of|sealed/);
      return (JSON.parse(text) as { accounts: { principal: string; server_name: string }[] })
        .accounts;
    };
    expect(await listOf(ada)).toMatchObject([
      { principal: ada.principalId, server_name: 'modern' },
    ]);
    expect(await listOf(eve)).toEqual([]);
    expect((await listOf({})).map(({ server_name: name }) => name).toSorted()).toEqual([
      'modern',
      'plain',
    ]);
  });

  it('[UP-4] [ACC-8] [ACC-3] can be connected only at servers that accept them and that the principal may call', async () => {
    const narrow = await createPerson(portico, { servers: ['plain'] });
    const hidden = await connect(narrow, 'modern', 'x');
    const unknown = await connect(narrow, 'nothing', 'x');
    expect([hidden.status, await hidden.text()]).toEqual([unknown.status, await unknown.text()]);
    expect(hidden.status).toBe(404);
    const setup = await portico.api('POST', '/api/v1/accounts', { server: 'modern', token: 'x' });
    expect(setup.status).toBe(503);
    const reader = await createPerson(portico, { scopes: ['tools:read'] });
    expect((await connect(reader, 'modern', 'x')).status).toBe(403);
    await portico.api('PATCH', `${SERVERS}/${ids.plain}`, { accounts: 'shared' });
    expect((await connect(ada, 'plain', 'x')).status).toBe(422);
    await portico.api('PATCH', `${SERVERS}/${ids.plain}`, { accounts: 'per_principal' });
  });

  it('[UP-4] [ACC-8] are not for programs, whose identity their connector decides', async () => {
    const { id: connector } = await enrol(portico, 'laptop');
    const body = {
      name: 'program',
      transport_type: 'STDIO',
      connection_config: { connector, server: 'program' },
    };
    const refused = await portico.api('POST', SERVERS, { ...body, accounts: 'both' });
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining('machine of its connector'),
    ]);
    const made = await (await portico.api('POST', SERVERS, body)).json<{ id: string }>();
    const edited = await portico.api('PATCH', `${SERVERS}/${made.id}`, { accounts: 'both' });
    expect([edited.status, await edited.text()]).toEqual([
      422,
      expect.stringContaining('machine of its connector'),
    ]);
  });

  it('[UP-4] [ACC-8] are deleted with their principal, and with the origin that they were given for', async () => {
    const rows = async () =>
      (await env.DB.prepare('SELECT principal_id FROM accounts').all()).results.length;
    await connect(ada, 'modern', 'token-of-ada');
    await connect(bob, 'modern', 'token-of-bob');
    await portico.api('DELETE', `/api/v1/principals/${bob.principalId}`);
    expect(await rows()).toBe(1);
    const move = (url: string) =>
      portico.api('PATCH', `${SERVERS}/${ids.modern}`, { connection_config: { url } });
    expect((await move('https://modern.example.com/other')).status).toBe(200);
    expect(await rows()).toBe(1);
    expect((await move('https://elsewhere.example.com/mcp')).status).toBe(200);
    expect(await rows()).toBe(0);
    await move('https://modern.example.com/mcp');
    await whenServer(portico, ids.modern, ({ status }) => status === 'CONNECTED');
  });

  it("[UP-4] [ACC-8] of both kinds: a principal's own account if there is one, else the deployment’s", async () => {
    const patch = (body: object) => portico.api('PATCH', `${SERVERS}/${ids.plain}`, body);
    const auth = { type: 'bearer', token: 'token-of-all' };
    expect((await patch({ accounts: 'both', connection_config: { auth } })).status).toBe(200);
    await whenServer(portico, ids.plain, ({ status }) => status === 'CONNECTED');
    await connect(ada, 'plain', 'token-of-ada');
    expect(await whom(ada, 'plain.whoami')).toBe('Bearer token-of-ada');
    expect(await whom(eve, 'plain.whoami')).toBe('Bearer token-of-all');
    await patch({ accounts: 'per_principal', connection_config: { auth: null } });
    await whenServer(portico, ids.plain, ({ status }) => status === 'CONNECTED');
  });
});

const CALLS = drawn(2_000);
it(`[UP-4] [ACC-8] in ${CALLS} calls (seed ${SEED}) of five people, accounts changing meanwhile, nobody’s token is on another’s call`, async () => {
  const random = createRandom();
  const people = [ada, bob, eve, await createPerson(portico), await createPerson(portico)];
  const serials = new Map<string, number>();
  const reconnect = async (person: Person, name: Kind) => {
    const key = `${person.principalId}/${name}`;
    const serial = (serials.get(key) ?? 0) + 1;
    expect((await connect(person, name, `${key}/${serial}`)).status).toBe(201);
    serials.set(key, serial);
  };
  for (const person of people) for (const name of NAMES) await reconnect(person, name);
  const wrong: unknown[] = [];
  for (let done = 0; done < CALLS; done += 10) {
    const round = Array.from({ length: 10 }, async () => {
      const [person, name] = [random.pick(people), random.pick(NAMES)];
      if (random.chance(0.03)) return reconnect(person, name);
      const key = `${person.principalId}/${name}`;
      const before = serials.get(key) ?? 0;
      const told = await whom(person, `${name}.whoami`);
      const [, owner = '', serial = ''] = /^Bearer (.+)\/(\d+)$/.exec(told) ?? [];
      if (owner !== key || Number(serial) < before - 1) wrong.push([key, told]);
    });
    await Promise.all(round);
  }
  expect(wrong).toEqual([]);
}, 300_000);
