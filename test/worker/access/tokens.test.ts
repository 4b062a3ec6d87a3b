/** Tokens over REST: created for a principal, with limits and an expiry, rotated, revoked. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ADMIN, createPortico, legacy, register, SERVERS } from '../support/portico.ts';
import { createRecords } from '../support/records.ts';

interface Token {
  id: string;
  token: string;
  name: string;
  principal: string;
  tools: string[] | null;
  toolsets: string[] | null;
  servers: string[] | null;
  scopes: string[];
  effective_scopes: string[];
  expires_at: string | null;
  is_expired: boolean;
  last_used_at: string | null;
  former_expires_at: string | null;
}

const portico = createPortico();
const tokens = createRecords<Token>(portico, '/api/v1/tokens');
const principals = createRecords<{ id: string }>(portico, '/api/v1/principals');
const toolsets = createRecords<{ id: string }>(portico, '/api/v1/toolsets');
let forge: string;

const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
const statusOf = async (token: string, at = createPortico()) =>
  (await at.post(legacy('ping'), { token })).status;

async function rotate(id: string, body?: object): Promise<Token> {
  const response = await portico.fetch(`${tokens.path}/${id}/rotate`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ADMIN}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(response.status).toBe(200);
  return response.json();
}

beforeAll(async () => {
  forge = (await register(portico, 'forge', { auto_connect: false })).id;
});
afterEach(() => void vi.useRealTimers());

describe('a token', () => {
  it('[ACC-2] can read its own record and its effective scopes', async () => {
    const { id: principal } = await principals.create({ name: 'Eve', scopes: ['tools:call'] });
    const made = await tokens.create({ name: 'phone', principal });
    const ask = async (token: string) =>
      (await portico.api('GET', '/api/v1/token', undefined, { token })).json();
    const known = { id: made.id, principal, name: 'Eve', groups: [], limited: false };
    expect(await ask(made.token)).toEqual({ ...known, scopes: ['tools:call'] });
    expect(await ask(ADMIN)).toMatchObject({ scopes: ['admin'] });
  });

  it('[ACC-1] [ACC-2] is created for a principal, which lists all of its tokens', async () => {
    const { id: principal } = await principals.create({ name: 'Ada', scopes: ['tools:read'] });
    const made = await tokens.create({ name: 'laptop', principal });
    expect(made).toMatchObject({
      name: 'laptop',
      principal,
      scopes: ['tools:read', 'tools:call'],
      effective_scopes: ['tools:read'],
      expires_at: null,
      is_expired: false,
      former_expires_at: null,
    });
    const second = await tokens.create({ name: 'phone', principal });
    await tokens.create({ name: 'somebody else' });
    const found = await tokens.walk('tokens', `limit=1&principal=${principal}`);
    expect(found.map(({ id }) => id).toSorted()).toEqual([made.id, second.id].toSorted());
    const { token: _value, ...shown } = made;
    expect(await tokens.get(made.id)).toEqual(shown);
  });

  it('[ACC-1] [ACC-3] is limited to servers, tools and toolsets, and the limits survive renames', async () => {
    const set = await toolsets.create({ name: 'Reading', include: ['*.get_*'] });
    const body = {
      name: 'narrow',
      servers: ['forge'],
      tools: ['Forge.get_*', '*.list_*', 'forge', 'forge'],
      toolsets: ['reading', set.id],
    };
    const made = await tokens.create(body);
    expect(made).toMatchObject({
      servers: [forge],
      tools: ['forge.get_*', '*.list_*', 'forge'],
      toolsets: [set.id],
    });
    const rename = async (name: string) =>
      expect((await portico.api('PATCH', `${SERVERS}/${forge}`, { name })).status).toBe(200);
    await rename('foundry');
    expect((await tokens.get(made.id)).tools).toEqual(['foundry.get_*', '*.list_*', 'foundry']);
    await rename('forge');
  });

  it.each([
    [{ name: 'x', principal: 'nobody' }, ['principal']],
    [{ name: 'x', servers: ['forge', 'nobody'] }, ['servers']],
    [{ name: 'x', tools: ['forge.x', 'nobody.x'] }, ['tools']],
    [{ name: 'x', tools: ['forge.'] }, ['tools']],
    [{ name: 'x', toolsets: ['nothing'] }, ['toolsets']],
    [
      { name: 'x', principal: 'p', servers: ['s'], tools: ['t'], toolsets: ['u'] },
      ['principal', 'servers', 'tools', 'toolsets'],
    ],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
    [{ name: 'x', expires_at: '2120-01-01T00:00:00Z' }, ['expires_at']],
    [{ name: 'x', expires_at: 'soon' }, ['expires_at']],
  ])(
    '[ACC-1] [REG-8] is refused if %j is invalid, and the response names each field',
    async (body, fields) => {
      const refusal = { status: 422, code: 'validation_failed', fields };
      expect(await tokens.refusal('POST', '', body)).toEqual(refusal);
    },
  );

  it('[ACC-1] shows when it was last used, to five minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { id, token } = await tokens.create({ name: 'used' });
    expect((await tokens.get(id)).last_used_at).toBeNull();
    const use = async (at: number) => {
      vi.setSystemTime(at);
      const other = createPortico();
      expect(await statusOf(token, other)).toBe(200);
      await other.settle();
      return (await tokens.get(id)).last_used_at;
    };
    const first = Date.now();
    expect(await use(first)).toBe(new Date(first).toISOString());
    expect(await use(first + 299_999)).toBe(new Date(first).toISOString());
    expect(await use(first + 300_000)).toBe(new Date(first + 300_000).toISOString());
  });
});

describe('expiry', () => {
  it('[ACC-1] ends a token to the millisecond, also in an isolate that cached it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const expires = Date.now() + 500;
    const { id, token, expires_at } = await tokens.create({
      name: 'short',
      expires_at: new Date(expires).toISOString(),
    });
    expect(expires_at).toBe(new Date(expires).toISOString());
    const other = createPortico();
    expect(await statusOf(token, other)).toBe(200);
    vi.setSystemTime(expires - 1);
    expect([await statusOf(token, other), await statusOf(token)]).toEqual([200, 200]);
    vi.setSystemTime(expires);
    expect([await statusOf(token, other), await statusOf(token)]).toEqual([401, 401]);
    expect(await tokens.get(id)).toMatchObject({ is_expired: true });
    expect(await tokens.refusal('POST', `/${id}/rotate`, {})).toEqual({
      status: 409,
      code: 'conflict',
    });
    await tokens.remove(id);
  });
});

describe('rotation', () => {
  it('[ACC-1] gives a new value at once; the former one is refused everywhere within a second', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const other = createPortico();
    const before = await tokens.create({ name: 'turned', tools: ['*.get_*'] });
    expect(await statusOf(before.token, other)).toBe(200);
    await other.settle();
    const { token, ...after } = await rotate(before.id);
    expect(token).not.toBe(before.token);
    const { token: _value, last_used_at: _used, ...same } = before;
    expect(after).toMatchObject(same);
    expect([await statusOf(token), await statusOf(before.token)]).toEqual([200, 401]);
    expect(await statusOf(before.token, portico)).toBe(401);
    vi.setSystemTime(Date.now() + 1001);
    expect(await statusOf(before.token, other)).toBe(401);
    expect(await statusOf(token, other)).toBe(200);
  });

  it('[ACC-1] accepts the former value during its grace period, as the same token', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const now = Date.now();
    const before = await tokens.create({ name: 'graced', servers: ['forge'] });
    const after = await rotate(before.id, { grace_seconds: 60 });
    expect(after.former_expires_at).toBe(new Date(now + 60_000).toISOString());
    expect((await tokens.get(before.id)).former_expires_at).toBe(after.former_expires_at);
    expect([await statusOf(before.token), await statusOf(after.token)]).toEqual([200, 200]);
    const found = await tokens.walk('tokens', 'name=graced');
    expect(found.map(({ id }) => id)).toEqual([before.id]);
    const { results } = await env.DB.prepare('SELECT id FROM tokens WHERE former_of = ?')
      .bind(before.id)
      .all<{ id: string }>();
    expect(results.length).toBe(1);
    expect(await tokens.refusal('GET', `/${results[0]?.id}`)).toMatchObject({ status: 404 });
    expect(await tokens.refusal('DELETE', `/${results[0]?.id}`)).toMatchObject({ status: 404 });
    vi.setSystemTime(now + 59_999);
    expect(await statusOf(before.token)).toBe(200);
    vi.setSystemTime(now + 60_000);
    expect([await statusOf(before.token), await statusOf(after.token)]).toEqual([401, 200]);
    expect((await tokens.get(before.id)).former_expires_at).toBeNull();
  });

  it('[ACC-1] records the use of either value as the use of the token', async () => {
    const before = await tokens.create({ name: 'both' });
    await rotate(before.id, { grace_seconds: 600 });
    const other = createPortico();
    expect(await statusOf(before.token, other)).toBe(200);
    await other.settle();
    expect((await tokens.get(before.id)).last_used_at).not.toBeNull();
  });

  it('[ACC-1] repeated ends the grace period of the former value', async () => {
    const first = await tokens.create({ name: 'twice' });
    const second = await rotate(first.id, { grace_seconds: 600 });
    const third = await rotate(first.id, { grace_seconds: 600 });
    const values = [first, second, third];
    const statuses = await Promise.all(values.map(({ token }) => statusOf(token)));
    expect(statuses).toEqual([401, 200, 200]);
  });

  it("[ACC-1] does not extend the token's expiry, and revoking ends both values", async () => {
    const expires_at = soon(30_000);
    const before = await tokens.create({ name: 'bounded', expires_at });
    const after = await rotate(before.id, { grace_seconds: 600 });
    expect(after).toMatchObject({ expires_at, former_expires_at: expires_at });
    await tokens.remove(before.id);
    expect([await statusOf(before.token), await statusOf(after.token)]).toEqual([401, 401]);
    const left = env.DB.prepare('SELECT count(*) AS n FROM tokens WHERE name = ?').bind('bounded');
    expect(await left.first()).toEqual({ n: 0 });
  });

  it('[ACC-1] by concurrent requests leaves one value and one former value', async () => {
    const { id, token } = await tokens.create({ name: 'raced' });
    const rotated = await Promise.all([0, 1, 2].map(() => rotate(id, { grace_seconds: 600 })));
    const values = [token, ...rotated.map(each => each.token)];
    const statuses = await Promise.all(values.map(value => statusOf(value)));
    expect(statuses[0]).toBe(401);
    expect(statuses.filter(status => status === 200).length).toBe(2);
  });

  it('[ACC-1] [SEC-2] is refused with an invalid body, and no value is in the audit or the database', async () => {
    const made = await tokens.create({ name: 'kept secret' });
    const { token } = await rotate(made.id, { grace_seconds: 60 });
    for (const seconds of [-1, 86_401, 1.5, '60']) {
      const body = { grace_seconds: seconds };
      expect(await tokens.refusal('POST', `/${made.id}/rotate`, body)).toMatchObject({
        fields: ['grace_seconds'],
      });
    }
    const { results } = await env.DB.prepare(
      "SELECT * FROM tokens WHERE name = 'kept secret'",
    ).all();
    expect(results.length).toBe(2);
    await tokens.remove(made.id);
    expect(await tokens.refusal('POST', `/${made.id}/rotate`, {})).toMatchObject({ status: 404 });
    const audit = await (await portico.api('GET', `/api/v1/audit?subject=${made.id}`)).text();
    for (const value of [made.token, token].flatMap(each => [each, each.slice(8)])) {
      expect(audit).not.toContain(value);
      expect(JSON.stringify(results)).not.toContain(value);
    }
    expect(JSON.parse(audit)).toMatchObject({
      events: [
        { action: 'token.rotate', outcome: 'failed', code: 'not_found' },
        { action: 'token.delete', outcome: 'done' },
        { action: 'token.rotate', outcome: 'done', detail: { grace_seconds: 60 } },
        { action: 'token.create', outcome: 'done', detail: { name: 'kept secret' } },
      ],
    });
  });
});
