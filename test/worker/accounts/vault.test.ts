/** An account's scopes grow as its server requires, and no credential of an ended account is kept. */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { createPerson, type Person } from '../support/call-rows.ts';
import { signIn } from '../support/oauth-client.ts';
import { register, SERVERS, PATIENT } from '../support/portico.ts';
import { comeBack, leave, whoami } from '../support/signed-in-accounts.ts';
import { useTwoAccounts } from '../support/two-accounts.ts';

const found = useTwoAccounts('tickets');
const { portico, at: tickets } = found;
const { issuer } = tickets;
const { ada } = found.people;
const who = (person: Person) => whoami(portico, person, 'tickets');

/** Waits until the scope that a server requires is recorded. */
const whenWanted = ({ principalId }: Person, scope: string) =>
  vi.waitFor(async () => {
    const wanted = await env.DB.prepare(
      `SELECT wanted_scope FROM account_grants AS g JOIN accounts AS a ON a.id = g.account_id WHERE a.principal_id = ?`,
    )
      .bind(principalId)
      .first('wanted_scope');
    expect(wanted).toBe(scope);
  }, PATIENT);

describe('a server that requires more scopes of an account', () => {
  it('[ACC-8] makes the gateway ask the owner for these and the granted ones, three times in all', async () => {
    tickets.wanted = 'write';
    expect(await who(ada)).toMatch(/^account_required: .*allow more: write.*\/connect\/tickets/);
    const browser = await signIn(portico, ada.token);
    const scopes = [];
    for (let times = 0; times < 2; times += 1) {
      await whenWanted(ada, 'write');
      const left = await leave(browser, 'tickets');
      scopes.push(new URL(left).searchParams.get('scope'));
      await comeBack(browser, issuer.agree(left, 'ada'));
      // The issuer claims to have granted it; the server still requires it.
      issuer.access.forEach(held => (held.scope = 'base'));
      expect(await who(ada)).toMatch(/^account_required: .*allow more/);
    }
    expect(scopes).toEqual(['base write', 'base write']);
    await whenWanted(ada, 'write');
    const page = await (await browser.post('/connect/tickets', { how: 'sign-in' })).text();
    expect(page).toContain('tell whoever runs it');
  });
});

describe('the vault keeps no credential', () => {
  const left = async () =>
    (
      await Promise.all(
        ['accounts', 'account_grants', 'account_connections'].map(table =>
          env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n'),
        ),
      )
    ).join(' ');

  it('[ACC-8] [SEC-1] of a deleted principal', async () => {
    await leave(await signIn(portico, ada.token), 'tickets');
    await portico.api('DELETE', `/api/v1/principals/${ada.principalId}`);
    expect(await left()).toBe('1 1 0');
  });

  it('[ACC-8] [SEC-1] of a server that moved to another origin', async () => {
    const move = (origin: string) =>
      portico.api('PATCH', `${SERVERS}/${found.id}`, {
        connection_config: { url: `${origin}/mcp` },
      });
    await move('https://moved.example.com');
    expect(await left()).toBe('0 0 0');
    await move(tickets.origin);
  });

  it('[ACC-8] [SEC-1] of a server that got an OAuth client of another issuer', async () => {
    const auth = (issuerUrl: string) => ({
      type: 'authorization_code',
      issuer: issuerUrl,
      client_id: 'by-hand',
    });
    const set = (given: object | null) =>
      portico.api('PATCH', `${SERVERS}/${found.id}`, { connection_config: { auth: given } });
    expect((await set(auth(issuer.url))).status).toBe(200);
    expect(await left()).toBe('2 2 0');
    expect((await set(auth('https://other.example.net'))).status).toBe(200);
    expect(await left()).toBe('0 0 0');
    await set(null);
  });

  it('[ACC-8] of an account that its owner removes, which is also revoked', async () => {
    const { accounts } = await (
      await portico.api('GET', '/api/v1/accounts', undefined, { token: ada.token })
    ).json<{ accounts: { id: string }[] }>();
    const path = `/api/v1/accounts/${accounts[0]?.id}`;
    const ended = await portico.api('DELETE', path, undefined, { token: ada.token });
    expect([ended.status, issuer.revoked]).toEqual([
      204,
      [expect.stringMatching(/^refresh-.*ada$/)],
    ]);
    expect(await left()).toBe('1 1 0');
  });
});

it('[ACC-8] [ACC-3] lists the servers that the caller may use and that take accounts', async () => {
  const listOf = async ({ token }: { token: string }) =>
    (await portico.api('GET', '/api/v1/account-servers', undefined, { token })).json();
  const known = { id: found.id, name: 'tickets', required: true };
  expect(await listOf(ada)).toEqual({ servers: [{ ...known, connected: true }] });
  const nobody = await createPerson(portico);
  expect(await listOf(nobody)).toEqual({ servers: [{ ...known, connected: false }] });
  await register(portico, 'elsewhere');
  const narrow = await createPerson(portico, { servers: ['elsewhere'] });
  expect(await listOf(narrow)).toEqual({ servers: [] });
});
