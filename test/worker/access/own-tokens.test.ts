/**
 * Tokens that people create for their own clients, list and revoke without administration, and that never exceed their creator's rights.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { listChain } from '../../../src/audit/audit-store.ts';
import { connect, createClient } from '../support/oauth-client.ts';
import {
  ask,
  make,
  person,
  principals,
  TOKENS,
  tokens,
  works,
  type Token,
} from '../support/own-tokens.ts';
import { createPortico, ORIGIN, register } from '../support/portico.ts';
import { createRecords } from '../support/records.ts';

const portico = createPortico();
let forge: string;
let vault: string;

const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const namesOf = async (token: string, query = '') =>
  (await ask(token, 'GET', `${TOKENS}?limit=100${query}`)).tokens
    ?.map(({ name }) => name)
    .toSorted();
beforeAll(async () => {
  forge = (await register(portico, 'forge', { auto_connect: false })).id;
  vault = (await register(portico, 'vault', { auto_connect: false })).id;
});

describe('a token of one’s own', () => {
  it('[ACC-1] [ACC-9] is created by somebody who is no administrator, works, is listed, and is revoked', async () => {
    const ada = await person();
    const made = await make(ada.token, { name: 'cursor', expires_at: later(30) });
    expect(made).toMatchObject({
      principal: ada.principal,
      scopes: ['tools:read', 'tools:call'],
      made_by: ada.id,
    });
    expect(await works(made.token)).toBe(true);
    expect(await namesOf(ada.token)).toEqual(['cursor', 'hers']);
    expect((await ask(ada.token, 'GET', `${TOKENS}/${made.id}`)).name).toBe('cursor');
    expect((await ask(ada.token, 'DELETE', `${TOKENS}/${made.id}`)).status).toBe(204);
    expect(await works(made.token)).toBe(false);
    expect(await works(ada.token)).toBe(true);
  });

  it('[ACC-9] [SEC-6] has an audit row that shows what it ends with', async () => {
    const ada = await person();
    const { id } = await make(ada.token);
    const row = (await listChain(env.DB, 'admin', 1, 10_000)).find(({ subject }) => subject === id);
    expect(row).toMatchObject({
      action: 'token.create',
      outcome: 'done',
      principalId: ada.principal,
      detail: { made_by: ada.id },
    });
  });

  it('[ACC-9] has no scope that its creator lacks', async () => {
    const reader = await person({ scopes: ['tools:read'] });
    expect((await make(reader.token)).scopes).toEqual(['tools:read']);
    for (const scope of ['tools:call', 'servers:read', 'admin']) {
      const refused = await ask(reader.token, 'POST', TOKENS, { name: 'x', scopes: [scope] });
      expect([refused.status, refused.errors?.[0]?.field]).toEqual([422, 'scopes']);
    }
    const short = await person({ expires_at: later(7) });
    expect((await make(short.token)).expires_at).toBe(short.expires_at);
    expect((await make(short.token, { expires_at: later(90) })).expires_at).toBe(short.expires_at);
    const soon = later(1);
    expect((await make(short.token, { expires_at: soon })).expires_at).toBe(soon);
  });

  it('[ACC-9] has the limits of its creator, or narrower ones', async () => {
    const narrow = await person({ servers: ['forge'], tools: ['forge.get_*', '*.list_*'] });
    const limits = { servers: [forge], tools: ['forge.get_*', '*.list_*'] };
    expect(await make(narrow.token)).toMatchObject(limits);
    const less = await make(narrow.token, { tools: ['forge.get_*'] });
    expect(less).toMatchObject({ servers: [forge], tools: ['forge.get_*'] });
    const wide = await ask(narrow.token, 'POST', TOKENS, { name: 'x', tools: ['*.get_*'] });
    expect([wide.status, wide.errors?.[0]?.field]).toEqual([422, 'tools']);
    // Names that it may not see look unknown.
    const named = (name: string, id: string) =>
      ask(narrow.token, 'POST', TOKENS, { name: 'x', servers: [name, id], tools: [`${name}.x`] });
    const nothing = '00000000-0000-4000-8000-000000000000';
    const text = (answer: object) =>
      JSON.stringify(answer)
        .replaceAll(/vault|absent/g, 'NAME')
        .replaceAll(vault, nothing);
    const hidden = await named('vault', vault);
    expect(hidden.status).toBe(422);
    expect(text(hidden)).toBe(text(await named('absent', nothing)));
  });

  it('[ACC-9] names no toolset that its creator may not use', async () => {
    const { principal, token } = await person();
    const toolsets = createRecords<{ id: string }>(portico, '/api/v1/toolsets');
    const mine = await toolsets.create({
      name: 'mine',
      include: ['*.get_*'],
      members: { principals: [principal], groups: [] },
    });
    await toolsets.create({
      name: 'theirs',
      include: ['*.get_*'],
      members: { principals: [], groups: ['others'] },
    });
    expect(await make(token, { toolsets: ['mine'] })).toMatchObject({ toolsets: [mine.id] });
    const refused = async (name: string) => {
      const { status, errors } = await ask(token, 'POST', TOKENS, { name: 'x', toolsets: [name] });
      return [status, errors?.[0]?.message.replace(name, 'NAME')];
    };
    expect(await refused('theirs')).toEqual([422, 'unknown: NAME']);
    expect(await refused('nothing')).toEqual(await refused('theirs'));
  });

  it('[ACC-9] creates no others, and sees only itself', async () => {
    const ada = await person();
    const made = await make(ada.token, { name: 'cursor' });
    await make(ada.token, { name: 'zed' });
    const refused = await ask(made.token, 'POST', TOKENS, { name: 'x' });
    expect([refused.status, refused.code]).toEqual([403, 'forbidden']);
    expect(await namesOf(made.token)).toEqual(['cursor']);
    expect((await ask(made.token, 'DELETE', `${TOKENS}/${ada.id}`)).status).toBe(404);
    expect(await works(ada.token)).toBe(true);
  });

  it('[ACC-9] is not listed, read, revoked or created by another principal', async () => {
    const [ada, bo] = [await person(), await person()];
    const theirs = await make(bo.token, { name: 'of Bo' });
    expect(await namesOf(ada.token, `&principal=${bo.principal}`)).toEqual([]);
    for (const method of ['GET', 'DELETE']) {
      const { status, ...unknown } = await ask(ada.token, method, `${TOKENS}/${theirs.id}`);
      expect(status).toBe(404);
      expect({ status, ...unknown }).toEqual(await ask(ada.token, method, `${TOKENS}/nothing`));
    }
    expect(await works(theirs.token)).toBe(true);
    const made = async (principal: string) =>
      ask(ada.token, 'POST', TOKENS, { name: 'x', principal });
    const refused = await made(bo.principal);
    expect([refused.status, refused.errors]).toEqual([
      422,
      [{ field: 'principal', message: 'there is no such principal' }],
    ]);
    expect((await made('nothing')).errors?.[0]).toEqual(refused.errors?.[0]);
  });

  it('[ACC-9] is not visible to a token with fewer rights', async () => {
    const { id: principal } = await principals.create({ name: 'Ada' });
    const strong = await tokens.create({ name: 'strong', principal, scopes: ['admin'] });
    const weak = await tokens.create({ name: 'weak', principal });
    const narrow = await tokens.create({ name: 'narrow', principal, servers: ['forge'] });
    const narrower = await make(narrow.token, { name: 'narrower' });
    expect(await namesOf(weak.token)).toEqual(['narrow', 'narrower', 'weak']);
    expect(await namesOf(narrow.token)).toEqual(['narrow', 'narrower']);
    expect((await ask(weak.token, 'DELETE', `${TOKENS}/${strong.id}`)).status).toBe(404);
    expect((await ask(narrow.token, 'DELETE', `${TOKENS}/${weak.id}`)).status).toBe(404);
    expect((await ask(narrow.token, 'DELETE', `${TOKENS}/${narrower.id}`)).status).toBe(204);
  });

  it('[ACC-9] is not visible to a token that ends before it', async () => {
    const { id: principal } = await principals.create({ name: 'Ada' });
    const create = (name: string, end: object) => tokens.create({ name, principal, ...end });
    const week = await create('week', { expires_at: later(7) });
    const year = await create('year', { expires_at: later(365) });
    const always = await create('always', {});
    const made = await make(week.token, { name: 'made', expires_at: later(1) });
    expect(await namesOf(week.token)).toEqual(['made', 'week']);
    expect(await namesOf(year.token)).toEqual(['made', 'week', 'year']);
    expect(await namesOf(always.token)).toEqual(['always', 'made', 'week', 'year']);
    for (const { id } of [year, always]) {
      expect((await ask(week.token, 'GET', `${TOKENS}/${id}`)).status).toBe(404);
      expect((await ask(week.token, 'DELETE', `${TOKENS}/${id}`)).status).toBe(404);
    }
    expect([await works(year.token), await works(always.token)]).toEqual([true, true]);
    expect((await ask(week.token, 'DELETE', `${TOKENS}/${made.id}`)).status).toBe(204);
  });

  it('[ACC-9] compares the effective scopes of others', async () => {
    const bound = { name: 'Ada', scopes: ['tools:read', 'tools:call'] };
    const { id: principal } = await principals.create(bound);
    await tokens.create({ name: 'once an admin', principal, scopes: ['admin', 'tools:read'] });
    const { token } = await tokens.create({ name: 'hers', principal });
    expect(await namesOf(token)).toEqual(['hers', 'once an admin']);
    await principals.edit(principal, { scopes: ['admin'] });
    expect(await namesOf(token)).toEqual(['hers']);
  });

  it('[ACC-1] ends with the token that created it, revoked or rotated', async () => {
    const ada = await person();
    const rotated = await make(ada.token);
    const grace = await portico.api('POST', `${TOKENS}/${ada.id}/rotate`, { grace_seconds: 60 });
    const { token } = await grace.json<Token>();
    expect(await works(rotated.token)).toBe(false);
    // A token created with the former value now would outlast that value.
    for (const value of [ada.token, token]) {
      expect((await ask(value, 'POST', TOKENS, { name: 'x' })).status).toBe(403);
    }
    await portico.api('POST', `${TOKENS}/${ada.id}/rotate`);
    const bo = await person();
    const made = await make(bo.token);
    await tokens.remove(bo.id);
    expect(await works(made.token)).toBe(false);
    expect(await tokens.refusal('GET', `/${made.id}`)).toMatchObject({ status: 404 });
  });

  it('[ACC-1] can be rotated by an administrator, and both values end with its creator', async () => {
    const ada = await person();
    const made = await make(ada.token);
    const answer = await portico.api('POST', `${TOKENS}/${made.id}/rotate`, { grace_seconds: 60 });
    const { token } = await answer.json<Token>();
    expect([await works(made.token), await works(token)]).toEqual([true, true]);
    await tokens.remove(ada.id);
    expect([await works(made.token), await works(token)]).toEqual([false, false]);
  });

  it('[ACC-9] is one of fifty at most', async () => {
    const ada = await person();
    for (let n = 0; n < 50; n += 1) await make(ada.token);
    const refused = await ask(ada.token, 'POST', TOKENS, { name: 'x' });
    expect([refused.status, refused.code]).toEqual([409, 'conflict']);
    const total = (await ask(ada.token, 'GET', `${TOKENS}?limit=1`)).total;
    expect(total).toBe(51);
    const other = { name: 'strong', principal: ada.principal, tools: ['*.get-*'] };
    await make((await tokens.create(other)).token);
  });
});

it('[ACC-9] [ACC-7] a program that a person authorized may do none of this', async () => {
  const ada = await person();
  const clientId = await createClient();
  const { access_token: access } = await connect(portico, clientId, ada.token, {
    resource: ORIGIN,
  });
  expect((await ask(access, 'GET', TOKENS)).status).toBe(403);
  expect((await ask(access, 'POST', TOKENS, { name: 'x' })).status).toBe(403);
  expect((await ask(access, 'GET', `${TOKENS}/${ada.id}`)).status).toBe(404);
  expect((await ask(access, 'DELETE', `${TOKENS}/${ada.id}`)).status).toBe(404);
  expect(await works(ada.token)).toBe(true);
});
