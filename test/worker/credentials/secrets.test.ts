/** Named secrets: what the API accepts and shows, what is refused, and that only the server sees a value. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { parseEvents } from '../../../src/audit/audit-store.ts';
import { dumpDatabase } from '../support/database.ts';
import { createPortico, createToken, SERVERS, type ServerView } from '../support/portico.ts';

const portico = createPortico();
const SECRETS = '/api/v1/secrets';
const CANARY = 'canary-4d1f90';

interface SecretView {
  name: string;
  origins: string[];
  servers: { id: string; name: string }[];
  revision: number;
}

const put = (name: string, value: string, origins: string[]) =>
  portico.api('PUT', `${SECRETS}/${name}`, { value, origins });
const originOf = (name: string) => `https://${name}.example.com`;
const withConfig = (name: string, config: object) => ({
  name,
  transport_type: 'HTTP',
  connection_config: { url: `${originOf(name)}/mcp`, ...config },
  auto_connect: false,
});
const create = (name: string, config: object) =>
  portico.api('POST', SERVERS, withConfig(name, config));
const list = async () =>
  (await (await portico.api('GET', SECRETS)).json<{ secrets: SecretView[] }>()).secrets;

async function fieldsOf(response: Response): Promise<string[]> {
  expect(response.status).toBe(422);
  const { errors } = await response.json<{ errors: { field: string; message: string }[] }>();
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('a secret', () => {
  it('[SEC-1] [SEC-2] is stored, listed with its servers, and never returned', async () => {
    const made = await put('FIRST', CANARY, ['https://first.example.com/', originOf('first')]);
    expect(made.status).toBe(200);
    expect(await made.clone().json()).toMatchObject({
      name: 'FIRST',
      origins: [originOf('first')],
      servers: [],
      revision: 1,
    });
    const created = await create('first', { headers: { Authorization: 'Bearer ${FIRST}' } });
    const { id } = await created.clone().json<ServerView>();
    const again = await put('FIRST', `${CANARY}-2`, [originOf('first'), originOf('second')]);
    expect(await again.clone().json()).toMatchObject({ revision: 2, servers: [{ id }] });
    const first = (await list()).find(({ name }) => name === 'FIRST');
    expect(first).toMatchObject({
      origins: [originOf('first'), originOf('second')],
      servers: [{ id, name: 'first' }],
    });
    const answers = [made, again, created, await portico.api('GET', SECRETS)];
    answers.push(await portico.api('GET', SERVERS), await portico.api('GET', '/openapi.json'));
    for (const answer of answers) expect(await answer.text()).not.toContain(CANARY);
    expect(await dumpDatabase()).not.toContain(CANARY);
    const { results } = await env.DB.prepare('SELECT * FROM audit_events').all();
    expect(JSON.stringify(results)).not.toContain(CANARY);
    const rows = parseEvents(results).filter(({ subject }) => subject === 'FIRST');
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'secret.put done',
      'secret.put done',
    ]);
  });

  it.each<[string, string, unknown]>([
    ['a name in small letters', 'lower', { value: 'v', origins: [originOf('a')] }],
    ['a name that is too long', 'A'.repeat(65), { value: 'v', origins: [originOf('a')] }],
    ['no value', 'WRONG', { origins: [originOf('a')] }],
    ['an empty value', 'WRONG', { value: '', origins: [originOf('a')] }],
    ['a value that breaks the line', 'WRONG', { value: 'a\r\nb', origins: [originOf('a')] }],
    ['a value that ends with a space', 'WRONG', { value: 'a ', origins: [originOf('a')] }],
    ['a value that is too long', 'WRONG', { value: 'a'.repeat(8193), origins: [originOf('a')] }],
    ['no origins', 'WRONG', { value: 'v' }],
    ['an empty list of origins', 'WRONG', { value: 'v', origins: [] }],
    ['too many origins', 'WRONG', { value: 'v', origins: Array(21).fill(originOf('a')) }],
    ['an origin with a path', 'WRONG', { value: 'v', origins: [`${originOf('a')}/mcp`] }],
    ['an origin with a query', 'WRONG', { value: 'v', origins: [`${originOf('a')}/?a`] }],
    ['every origin', 'WRONG', { value: 'v', origins: ['*'] }],
    ['an origin over plain http', 'WRONG', { value: 'v', origins: ['http://a.example.com'] }],
    ['a private address', 'WRONG', { value: 'v', origins: ['https://169.254.169.254'] }],
    ['a member nobody knows', 'WRONG', { value: 'v', origins: [originOf('a')], note: 'x' }],
  ])('[SEC-4] [SEC-3] is refused with %s', async (_what, name, body) => {
    const before = await dumpDatabase();
    const response = await portico.api('PUT', `${SECRETS}/${name}`, body);
    expect(await fieldsOf(response)).not.toEqual([]);
    expect(await dumpDatabase()).toBe(before);
  });

  it('[SEC-1] is not deleted or restricted while a server refers to it', async () => {
    await put('HELD', CANARY, [originOf('held')]);
    const created = await create('held', { auth: { type: 'bearer', token: '${HELD}' } });
    const { id } = await created.json<ServerView>();
    const refused = await portico.api('DELETE', `${SECRETS}/HELD`);
    expect([refused.status, await refused.json()]).toEqual([
      409,
      expect.objectContaining({ code: 'conflict', detail: 'Servers refer to it: held' }),
    ]);
    expect((await put('HELD', CANARY, [originOf('other')])).status).toBe(409);
    const config = { connection_config: { auth: null } };
    expect((await portico.api('PATCH', `${SERVERS}/${id}`, config)).status).toBe(200);
    expect((await portico.api('DELETE', `${SECRETS}/HELD`)).status).toBe(204);
    expect((await portico.api('DELETE', `${SECRETS}/HELD`)).status).toBe(404);
  });

  it('[SEC-1] keeps the origin of the token endpoint that a server names', async () => {
    await put('GRANTED', CANARY, [originOf('login')]);
    const auth = { type: 'client_credentials', client_id: 'us', client_secret: '${GRANTED}' };
    const config = { auth: { ...auth, token_url: `${originOf('login')}/token` } };
    expect((await create('granted', config)).status).toBe(201);
    const refused = await put('GRANTED', CANARY, [originOf('granted')]);
    expect([refused.status, await refused.json()]).toEqual([
      409,
      expect.objectContaining({ detail: 'Servers at other origins refer to it: granted' }),
    ]);
    expect((await put('GRANTED', CANARY, [originOf('login'), originOf('x')])).status).toBe(200);
  });

  it('[SEC-1] [ACC-7] is not deleted while a sign-in provider refers to it', async () => {
    await put('SIGNING', CANARY, ['https://login.example.com']);
    const provider = {
      name: 'Acme',
      issuer: 'https://login.example.com',
      client_id: 'portico',
      client_secret: 'SIGNING',
    };
    const made = await portico.api('POST', '/api/v1/sign-in-providers', provider);
    expect(made.status).toBe(201);
    const refused = await portico.api('DELETE', `${SECRETS}/SIGNING`);
    expect([refused.status, await refused.json()]).toEqual([
      409,
      expect.objectContaining({ detail: 'Sign-in providers refer to it: Acme' }),
    ]);
    await portico.api('DELETE', '/api/v1/sign-in-providers/Acme');
    expect((await portico.api('DELETE', `${SECRETS}/SIGNING`)).status).toBe(204);
  });

  it('[SEC-1] [OPS-8] is replaced only at the revision that was read, if requested', async () => {
    const write = (value: string, headers: Record<string, string>) => {
      const body = { value, origins: [originOf('guarded')] };
      return portico.api('PUT', `${SECRETS}/GUARDED`, body, { headers });
    };
    const isValue = async (value: string) => {
      const body = { secrets: [{ name: 'GUARDED', value }] };
      const answer = await portico.api('POST', `${SECRETS}/compare`, body);
      return (await answer.json<{ same: string[] }>()).same.length === 1;
    };
    expect((await write('first', { 'if-match': '"r1"' })).status).toBe(412);
    const made = await write('first', { 'if-none-match': '*' });
    expect([made.status, made.headers.get('etag')]).toEqual([200, '"r1"']);
    expect((await write('second', { 'if-match': '"r1"' })).headers.get('etag')).toBe('"r2"');
    const before = await dumpDatabase();
    for (const headers of [{ 'if-match': '"r1"' }, { 'if-none-match': '*' }, { 'if-match': 'x' }]) {
      const refused = await write('lost', headers as Record<string, string>);
      expect([refused.status, await refused.json()]).toEqual([
        412,
        expect.objectContaining({ code: 'precondition_failed' }),
      ]);
    }
    expect([await isValue('second'), await dumpDatabase()]).toEqual([true, before]);
    // Of several concurrent writes over one revision, one succeeds.
    const all = await Promise.all(
      Array.from({ length: 5 }, (_, i) => write(`at-once-${i}`, { 'if-match': '"r2"' })),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412, 412]);
    expect((await list()).find(({ name }) => name === 'GUARDED')).toMatchObject({ revision: 3 });
  });

  it('[SEC-1] that is deleted while servers are registered with it stays, or the servers wait for it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const name = `RACE_${round}`;
      await put(name, CANARY, [originOf(`race-${round}`)]);
      const config = { auth: { type: 'bearer', token: `\${${name}}` } };
      const [made, gone] = await Promise.all([
        create(`race-${round}`, config),
        portico.api('DELETE', `${SECRETS}/${name}`),
      ]);
      const isThere = (await list()).some(secret => secret.name === name);
      expect([made.status, gone.status]).toEqual([201, isThere ? 409 : 204]);
    }
  });
});

describe('a token without the scope', () => {
  it('[ACC-2] [SEC-6] neither writes nor lists secrets, and its attempt leaves a row', async () => {
    await put('KEPT', CANARY, [originOf('kept')]);
    const writer = await createToken(portico, { scopes: ['servers:read', 'servers:write'] });
    const before = await dumpDatabase();
    const attempts: [string, string, unknown][] = [
      ['PUT', `${SECRETS}/KEPT`, { value: 'v', origins: [originOf('kept')] }],
      ['DELETE', `${SECRETS}/KEPT`, undefined],
      ['GET', SECRETS, undefined],
    ];
    for (const [method, path, body] of attempts) {
      const { status } = await portico.api(method, path, body, { token: writer.token });
      expect([method, status]).toEqual([method, 403]);
    }
    expect(await dumpDatabase()).toBe(before);
    const { results } = await env.DB.prepare('SELECT * FROM audit_events WHERE token_id = ?')
      .bind(writer.id)
      .all();
    expect(parseEvents(results).map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'secret.put denied',
      'secret.delete denied',
    ]);
    const keeper = await createToken(portico, { scopes: ['secrets:write'] });
    const own = await portico.api('GET', SECRETS, undefined, { token: keeper.token });
    expect(own.status).toBe(200);
  });
});

describe('references', () => {
  it.each<[string, object, string]>([
    ['another origin', { headers: { 'X-Key': '${ELSEWHERE}' } }, 'may not be sent to https://refs'],
    ['a mistake', { headers: { 'X-Key': '${nobody}' } }, 'a reference is ${NAME}'],
    [
      'two ways to authenticate',
      { headers: { authorization: 'x' }, auth: { type: 'bearer', token: 'y' } },
      'connection_config.auth: the headers already contain Authorization',
    ],
    [
      'too many secrets',
      {
        headers: Object.fromEntries(
          Array.from({ length: 21 }, (_, i) => [`X-${i}`, `\${NOBODY_${i}}`]),
        ),
      },
      'at most 20 secrets',
    ],
  ])('[UP-4] [SEC-1] with %s are refused, at registration and edit', async (_, config, message) => {
    await put('ELSEWHERE', CANARY, [originOf('elsewhere')]);
    const registered = await fieldsOf(await create('refs', config));
    expect(registered.join('\n')).toContain(message);
    const made = await create(`refs-${crypto.randomUUID()}`, {
      url: 'https://refs.example.com/mcp',
    });
    const { id } = await made.json<ServerView>();
    const edit = { connection_config: config };
    const edited = await fieldsOf(await portico.api('PATCH', `${SERVERS}/${id}`, edit));
    expect(edited.join('\n')).toContain(message);
  });

  it('[SEC-1] are shown, literal values are not, and both are lost with the origin', async () => {
    await put('SHOWN', CANARY, [originOf('shown'), originOf('moved')]);
    const headers = {
      'X-Key': 'Token ${SHOWN}',
      'X-Plain': CANARY,
      'X-Half': `${CANARY}\${SHOWN}`,
    };
    const created = await create('shown', { headers, auth: { type: 'bearer', token: CANARY } });
    const { id } = await created.clone().json<ServerView>();
    expect(await created.json()).toMatchObject({
      connection_config: {
        headers: { 'X-Key': 'Token ${SHOWN}', 'X-Plain': null, 'X-Half': null },
        auth: { type: 'bearer', token: null },
      },
    });
    const patch = (config: object) =>
      portico.api('PATCH', `${SERVERS}/${id}`, { connection_config: config });
    const samePlace = await patch({ url: `${originOf('shown')}/other` });
    expect(await samePlace.json()).toMatchObject({
      connection_config: { headers: { 'X-Plain': null }, auth: { type: 'bearer' } },
    });
    const token = { auth: { type: 'bearer', token: '${SHOWN}' } };
    expect(await (await patch(token)).json()).toMatchObject({
      connection_config: { headers: { 'X-Plain': null }, auth: { token: '${SHOWN}' } },
    });
    const moved = await patch({ url: `${originOf('moved')}/mcp` });
    expect(await moved.json()).toMatchObject({ connection_config: { headers: {}, auth: null } });
    const row = await env.DB.prepare('SELECT headers_sealed, auth_sealed FROM servers WHERE id = ?')
      .bind(id)
      .first();
    expect(row).toEqual({ headers_sealed: null, auth_sealed: null });
  });
});
