/** An account is bound to the person who started the sign-in, in the same browser, once, and at the same issuer. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import { createAccounts } from '../../../src/servers/accounts/account-service.ts';
import { deleteOfOtherIssuers } from '../../../src/servers/accounts/grant-store.ts';
import { findServer } from '../../../src/servers/registry/server-store.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { toOwnActor } from '../../../src/shared/identity/principal.ts';
import { createBrowser } from '../support/browser.ts';
import { createPerson, type Person } from '../support/call-rows.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { pass } from '../support/clock.ts';
import { signIn } from '../support/oauth-client.ts';
import { createPortico, register, SERVERS, whenServer } from '../support/portico.ts';
import {
  accountRows,
  comeBack,
  IssuedServer,
  leave,
  serveIssued,
  whoami,
} from '../support/signed-in-accounts.ts';

const portico = createPortico();
const tickets = new IssuedServer('tickets');
const notes = new IssuedServer('notes');
const ids: Record<string, string> = {};
const NOT_BEGUN = 'Not connected This sign-in was not started by you in this browser';
let ada: Person;
let bob: Person;

beforeAll(async () => {
  serveIssued(tickets, notes);
  for (const { name } of [tickets, notes]) {
    ids[name] = (await register(portico, name, { accounts: 'per_principal' })).id;
  }
});
afterEach(() => {
  vi.useRealTimers();
});
beforeEach(async () => {
  serveIssued(tickets, notes);
  for (const each of [tickets, notes]) each.issuerNamed = each.issuer.url;
  await env.DB.prepare('DELETE FROM accounts').run();
  await env.DB.prepare('DELETE FROM account_connections').run();
  ada = await createPerson(portico, { name: 'Ada' });
  bob = await createPerson(portico, { name: 'Bob' });
});

const connect = async ({ token }: Person, at: IssuedServer, login: string) => {
  const browser = await signIn(portico, token);
  return comeBack(browser, at.issuer.agree(await leave(browser, at.name), login));
};

it('[UP-4] [ACC-8] each person signs in, and is called under the name they have there', async () => {
  expect(await connect(ada, tickets, 'ada-there')).toMatch(/^200 .*Connected Calls of Ada/);
  expect(await connect(bob, tickets, 'bob-there')).toMatch(/^200 .*Connected Calls of Bob/);
  await whenServer(portico, ids['tickets'] ?? '', ({ status }) => status === 'CONNECTED');
  expect(await whoami(portico, ada, 'tickets')).toBe('you are ada-there');
  expect(await whoami(portico, bob, 'tickets')).toBe('you are bob-there');
  expect(tickets.issuer.registered).toBe(1);
  const asked = new URL(await leave(await signIn(portico, ada.token), 'tickets')).searchParams;
  expect([asked.get('resource'), asked.get('scope')]).toEqual([`${tickets.origin}/mcp`, 'base']);
});

it('[ACC-8] a link of Ada that Bob opens creates Bob’s account, and nothing for Ada', async () => {
  expect(await connect(bob, tickets, 'bob-there')).toContain('Calls of Bob');
  const [row, ...more] = await accountRows();
  expect([row?.principal, more]).toEqual([bob.principalId, []]);
});

it('[ACC-8] a sign-in that Ada started connects nothing if Bob returns with it', async () => {
  const browser = await signIn(portico, ada.token);
  const back = tickets.issuer.agree(await leave(browser, 'tickets'), 'bob-there');
  expect(await comeBack(await signIn(portico, bob.token), back)).toContain(NOT_BEGUN);
  expect(await accountRows()).toEqual([]);
  // It is still Ada's: nobody else can use it up.
  expect(await comeBack(browser, back)).toContain('Calls of Ada');
});

it('[ACC-8] accounts at another issuer go with the account that replaces them, and not without it', async () => {
  expect(await connect(bob, tickets, 'bob-there')).toContain('Calls of Bob');
  const issuers = ['https://issuer.example'];
  const deleteWhen = (sql: string) =>
    deleteOfOtherIssuers(env.DB, ids['tickets'] ?? '', 'acc_new', issuers, {
      sql,
      params: [],
    }).run();
  await deleteWhen('0');
  expect(await accountRows()).toHaveLength(1);
  await deleteWhen('1');
  expect(await accountRows()).toEqual([]);
});

it('[ACC-8] a state works once', async () => {
  const browser = await signIn(portico, ada.token);
  const back = tickets.issuer.agree(await leave(browser, 'tickets'), 'ada-there');
  expect(await comeBack(browser, back)).toContain('Connected');
  const asked = tickets.issuer.asked.length;
  expect(await comeBack(browser, back)).toMatch(/^403 /);
  expect(tickets.issuer.asked.length).toBe(asked);
});

it('[ACC-8] another browser, and one that is not signed in, connect nothing', async () => {
  const back = tickets.issuer.agree(
    await leave(await signIn(portico, ada.token), 'tickets'),
    'ada-there',
  );
  expect(await comeBack(createBrowser(portico), back)).toMatch(/^403 .*Nobody is signed in/);
  expect(await comeBack(await signIn(portico, ada.token), back)).toContain(NOT_BEGUN);
  expect(await accountRows()).toEqual([]);
});

it('[ACC-8] a code of another issuer is sent to nobody', async () => {
  const browser = await signIn(portico, ada.token);
  const left = new URL(await leave(browser, 'tickets'));
  const other = notes.issuer.agree(await leave(browser, 'notes'), 'ada-there');
  other.searchParams.set('state', left.searchParams.get('state') ?? '');
  const asked = [tickets.issuer.asked.length, notes.issuer.asked.length];
  expect(await comeBack(browser, other)).toMatch(/^5\d\d .*Not connected/);
  expect([tickets.issuer.asked.length, notes.issuer.asked.length]).toEqual(asked);
  expect(await accountRows()).toEqual([]);
});

it('[ACC-8] after ten minutes, or if the server moved meanwhile, nothing is connected', async () => {
  const browser = await signIn(portico, ada.token);
  const back = tickets.issuer.agree(await leave(browser, 'tickets'), 'ada-there');
  pass(600_001);
  expect(await comeBack(browser, back)).toContain(NOT_BEGUN);
  vi.useRealTimers();
  const again = tickets.issuer.agree(await leave(browser, 'tickets'), 'ada-there');
  const path = `${SERVERS}/${ids['tickets']}`;
  const url = (end: string) => ({ connection_config: { url: tickets.origin + end } });
  await portico.api('PATCH', path, url('/other'));
  expect(await comeBack(browser, again)).toMatch(/^404 /);
  await portico.api('PATCH', path, url('/mcp'));
  expect(await accountRows()).toEqual([]);
});

it('[ACC-8] [SEC-1] nothing is connected if the server moves while the issuer answers', async () => {
  const path = `${SERVERS}/${ids['tickets']}`;
  const move = (origin: string) =>
    portico.api('PATCH', path, { connection_config: { url: `${origin}/mcp` } });
  const browser = await signIn(portico, ada.token);
  const back = tickets.issuer.agree(await leave(browser, 'tickets'), 'ada-there');
  const { handle } = tickets.issuer;
  const moving = async (request: Request) => {
    if (request.url.endsWith('/token')) await move(notes.origin);
    return handle(request);
  };
  fakeUpstreams({
    [tickets.origin]: tickets.handle,
    [tickets.issuer.url]: moving,
    [notes.origin]: notes.handle,
  });
  expect(await comeBack(browser, back)).toMatch(/^503 .*changed meanwhile/);
  expect(await accountRows()).toEqual([]);
  await move(tickets.origin);
});

describe('an account that is connected already', () => {
  const path = () => `${SERVERS}/${ids['tickets']}`;
  /** Accounts stay when their server moves within its origin. */
  const move = (end: string) =>
    portico.api('PATCH', path(), { connection_config: { url: tickets.origin + end } });
  afterEach(async () => void (await move('/mcp')));
  const stored = () =>
    Promise.all(
      ['SELECT id, revision, auth_sealed FROM accounts', 'SELECT * FROM account_grants'].map(
        async select => (await env.DB.prepare(select).all()).results,
      ),
    );

  it('[ACC-8] [SEC-1] stays as it is if the server moves while the issuer answers', async () => {
    expect(await connect(ada, tickets, 'ada-there')).toContain('Connected');
    const before = await stored();
    const browser = await signIn(portico, ada.token);
    const back = tickets.issuer.agree(await leave(browser, 'tickets'), 'ada-anew');
    const moving = async (request: Request) => {
      if (request.url.endsWith('/token')) await move('/other');
      return tickets.issuer.handle(request);
    };
    fakeUpstreams({ [tickets.origin]: tickets.handle, [tickets.issuer.url]: moving });
    expect(await comeBack(browser, back)).toMatch(/^503 .*changed meanwhile/);
    expect(await stored()).toEqual(before);
    await move('/mcp');
    serveIssued(tickets, notes);
    expect(await connect(ada, tickets, 'ada-anew')).toContain('Connected');
    await whenServer(portico, ids['tickets'] ?? '', ({ status }) => status === 'CONNECTED');
    expect(await whoami(portico, ada, 'tickets')).toBe('you are ada-anew');
  });

  it('[ACC-8] [SEC-1] keeps its sign-in if the server moves while a token is pasted', async () => {
    expect(await connect(ada, tickets, 'ada-there')).toContain('Connected');
    const before = await stored();
    const server = await findServer(env.DB, ids['tickets'] ?? '');
    if (!server) throw new Error('no such server');
    const batch = async (statements: D1PreparedStatement[]) => {
      // A write includes the audit row of its change.
      if (statements.length > 1) await move('/other');
      return env.DB.batch(statements);
    };
    const db = { prepare: (sql: string) => env.DB.prepare(sql), batch } as unknown as D1Database;
    const accounts = createAccounts({
      db,
      keys: createKeyRing(env.PORTICO_KEYS),
      adminAudit: new AdminAudit(db),
      onConnected: async () => {},
      revoke: async () => {},
    });
    const pasting = accounts.connect(
      toOwnActor(ada.principalId, 'token'),
      { server: 'tickets', token: 'pasted' },
      [server],
    );
    await expect(pasting).rejects.toMatchObject({ code: 'busy' });
    expect(await stored()).toEqual(before);
    await move('/mcp');
    const sent = { token: ada.token };
    const pasted = { server: 'tickets', token: 'pasted' };
    expect((await portico.api('POST', '/api/v1/accounts', pasted, sent)).status).toBe(201);
    expect(await accountRows()).toMatchObject([{ principal: ada.principalId, issuer: null }]);
  });
});

it('[ACC-8] starting requires a sign-in, a form of the page, and the right to call', async () => {
  const stranger = createBrowser(portico);
  expect((await stranger.post('/connect/tickets', { how: 'sign-in' })).status).toBe(403);
  const browser = await signIn(portico, ada.token);
  const foreign = { origin: 'https://evil.example' };
  expect((await browser.post('/connect/tickets', { how: 'sign-in' }, foreign)).status).toBe(403);
  const reader = await createPerson(portico, { scopes: ['tools:read'] });
  const reading = await signIn(portico, reader.token);
  expect((await reading.post('/connect/tickets', { how: 'sign-in' })).status).toBe(403);
  const left = await env.DB.prepare('SELECT count(*) AS n FROM account_connections').first('n');
  expect(left).toBe(0);
});

it('[ACC-8] a person who refuses consent gets a message, and keeps the former account', async () => {
  expect(await connect(ada, tickets, 'ada-there')).toContain('Connected');
  const browser = await signIn(portico, ada.token);
  const left = new URL(await leave(browser, 'tickets')).searchParams;
  const back = new URL(left.get('redirect_uri') ?? '');
  const said = { error: 'access_denied', state: left.get('state') ?? '', iss: tickets.issuer.url };
  back.search = String(new URLSearchParams(said));
  const before = await accountRows();
  expect(await comeBack(browser, back)).toMatch(/Not connected .*access_denied/);
  expect([before.length, await accountRows()]).toEqual([1, before]);
});

it('[UP-4] [ACC-8] [SEC-1] no credential is stored in plain text or shown', async () => {
  await connect(ada, tickets, 'ada-there');
  await leave(await signIn(portico, bob.token), 'tickets');
  const tables = ['accounts', 'account_grants', 'account_connections', 'upstream_clients'];
  const texts = await Promise.all(
    tables.map(async table => (await env.DB.prepare(`SELECT * FROM ${table}`).all()).results),
  );
  const shown = await (await portico.api('GET', '/api/v1/accounts')).text();
  const events = await env.DB.prepare('SELECT detail FROM audit_events').all();
  const text = JSON.stringify([texts, shown, events.results]);
  expect(text).toContain(tickets.issuer.url);
  expect(text).not.toMatch(/access-\d|refresh-\d|"secret"|code-\d/);
});
