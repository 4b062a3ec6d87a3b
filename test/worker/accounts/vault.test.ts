/** What an account may do grows as its server wants it, and nothing of an account is kept that is over. */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { createPerson, type Person } from '../support/call-rows.ts';
import { signIn } from '../support/oauth-client.ts';
import { register, SERVERS } from '../support/portico.ts';
import { comeBack, leave, whoami } from '../support/signed-in-accounts.ts';
import { useTwoAccounts } from '../support/two-accounts.ts';

const found = useTwoAccounts('tickets');
const { portico, at: tickets } = found;
const { issuer } = tickets;
const { ada } = found.people;
const who = (person: Person) => whoami(portico, person, 'tickets');

/** What a server wants is noted beside its answer. */
const whenWanted = ({ principalId }: Person, scope: string) =>
  vi.waitFor(async () => {
    const wanted = await env.DB.prepare(
      `SELECT wanted_scope FROM account_grants AS g JOIN accounts AS a ON a.id = g.account_id WHERE a.principal_id = ?`,
    )
      .bind(principalId)
      .first('wanted_scope');
    expect(wanted).toBe(scope);
  });

describe('the server wants more of an account', () => {
  it('[ACC-8] its owner is asked for that and what was granted, three times in all', async () => {
    tickets.wanted = 'write';
    expect(await who(ada)).toMatch(/^account_required: .*allow more: write.*\/connect\/tickets/);
    const browser = await signIn(portico, ada.token);
    const scopes = [];
    for (let times = 0; times < 2; times += 1) {
      await whenWanted(ada, 'write');
      const left = await leave(browser, 'tickets');
      scopes.push(new URL(left).searchParams.get('scope'));
      await comeBack(browser, issuer.agree(left, 'ada'));
      // The issuer says that it granted it; the server goes on wanting it.
      issuer.access.forEach(held => (held.scope = 'base'));
      expect(await who(ada)).toMatch(/^account_required: .*allow more/);
    }
    expect(scopes).toEqual(['base write', 'base write']);
    await whenWanted(ada, 'write');
    const page = await (await browser.post('/connect/tickets', { how: 'sign-in' })).text();
    expect(page).toContain('tell whoever runs it');
  });
});

describe('the vault is empty of what is over', () => {
  const left = async () =>
    (
      await Promise.all(
        ['accounts', 'account_grants', 'account_connections'].map(table =>
          env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n'),
        ),
      )
    ).join(' ');

  it('[ACC-8] [SEC-1] where a principal is deleted', async () => {
    await leave(await signIn(portico, ada.token), 'tickets');
    await portico.api('DELETE', `/api/v1/principals/${ada.principalId}`);
    expect(await left()).toBe('1 1 0');
  });

  it('[ACC-8] [SEC-1] where the server moves to another origin', async () => {
    const move = (origin: string) =>
      portico.api('PATCH', `${SERVERS}/${found.id}`, {
        connection_config: { url: `${origin}/mcp` },
      });
    await move('https://moved.example.com');
    expect(await left()).toBe('0 0 0');
    await move(tickets.origin);
  });

  it('[ACC-8] [SEC-1] where an administrator takes a client of another issuer', async () => {
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

  it('[ACC-8] and what one removes is revoked', async () => {
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

it('[ACC-8] [ACC-3] one is told at which servers one can have an account, of those one may use', async () => {
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
