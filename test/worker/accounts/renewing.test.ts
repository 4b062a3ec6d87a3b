/** Tokens of accounts are renewed by one request at a time, none is lost on the way, and an account ends only if its issuer says so. */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { principalOwner } from '../../../src/shared/identity/object-owners.ts';
import type { Person } from '../support/call-rows.ts';
import { pass } from '../support/clock.ts';
import { loseMemory } from '../support/lose-memory.ts';
import { signIn } from '../support/oauth-client.ts';
import {
  accountRows,
  comeBack,
  IssuedServer,
  leave,
  serveIssued,
  whoami,
} from '../support/signed-in-accounts.ts';
import { useTwoAccounts } from '../support/two-accounts.ts';
import { PATIENT } from '../support/portico.ts';

const LIFE_MS = 3_600_000;
const CALLS = 200;
const found = useTwoAccounts('tickets');
const { portico, at: tickets } = found;
const { issuer } = tickets;
const { ada, bob } = found.people;

const objectOf = ({ principalId }: Person) =>
  env.CLIENT_SESSION.getByName(principalOwner(principalId, found.id));
const who = (person: Person) => whoami(portico, person, 'tickets');
const endOf = async ({ principalId }: Person) =>
  (await accountRows()).find(({ principal }) => principal === principalId)?.ended;
const expiries = async ({ principalId }: Person) =>
  (
    await env.DB.prepare(
      `SELECT outcome, detail FROM audit_events WHERE action = 'account.expire' AND principal_id = ?`,
    )
      .bind(principalId)
      .all<{ outcome: string; detail: string }>()
  ).results.map(({ outcome, detail }) => [
    outcome,
    (JSON.parse(detail) as { reason?: string }).reason,
  ]);

describe('when a token expires', () => {
  it(`[ACC-8] ${CALLS} calls at once renew it once, and each is under its own name`, async () => {
    pass(LIFE_MS + 1_000);
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, i) => who(i % 2 === 0 ? ada : bob)),
    );
    expect(answers).toEqual(
      Array.from({ length: CALLS }, (_, i) => `you are ${i % 2 === 0 ? 'ada' : 'bob'}`),
    );
    expect(issuer.renewals).toBe(2);
    expect(issuer.asked.map(form => form['resource'])).toEqual([
      `${tickets.origin}/mcp`,
      `${tickets.origin}/mcp`,
    ]);
    expect(await who(ada)).toBe('you are ada');
    expect(issuer.renewals).toBe(2);
  });

  it('[ACC-8] it is renewed before that, and still used meanwhile', async () => {
    pass(LIFE_MS * 0.9);
    issuer.outage = () => new Response('busy', { status: 503 });
    expect(await who(ada)).toBe('you are ada');
    await vi.waitFor(() => expect(issuer.renewals).toBe(1), PATIENT);
    issuer.outage = undefined;
    pass(20_000);
    expect(await who(ada)).toBe('you are ada');
    await vi.waitFor(() => expect(issuer.renewals).toBe(2), PATIENT);
    pass(LIFE_MS * 0.3);
    expect(await who(ada)).toBe('you are ada');
    expect([issuer.renewals, await endOf(ada)]).toEqual([2, null]);
  });
});

describe('a temporary failure', () => {
  it.each([
    ['an error of the issuer', () => new Response('no', { status: 500 })],
    [
      'one that says it',
      () => Response.json({ error: 'temporarily_unavailable' }, { status: 400 }),
    ],
    ['an answer that is none', () => new Response('<html>', { status: 200 })],
    [
      'a connection that breaks',
      () => {
        throw new TypeError('connection reset');
      },
    ],
  ])('[ACC-8] deletes nothing: %s', async (_name, outage) => {
    pass(LIFE_MS + 1_000);
    issuer.outage = outage;
    expect(await who(ada)).toMatch(/^credential_unavailable: /);
    expect(await who(ada)).toMatch(/^credential_unavailable: /);
    // Not at each call: renewal pauses after a failure.
    expect(issuer.renewals).toBe(1);
    issuer.outage = undefined;
    pass(2_000);
    expect(await who(ada)).toBe('you are ada');
    expect([await endOf(ada), await expiries(ada)]).toEqual([null, []]);
  });
});

describe('a lost response', () => {
  it('[ACC-8] requires a new sign-in and says why, if the issuer accepts a refresh token only once', async () => {
    pass(LIFE_MS + 1_000);
    issuer.lost = 1;
    expect(await who(ada)).toMatch(/^credential_unavailable: /);
    pass(5_000);
    expect(await who(ada)).toMatch(/^account_required: .*lost on the way.*\/connect\/tickets/);
    expect([await endOf(ada), await expiries(ada)]).toEqual([
      'answer_lost',
      [['done', 'answer_lost']],
    ]);
    expect(await who(bob)).toBe('you are bob');
    vi.useRealTimers();
    expect(await found.connect(ada, 'ada')).toContain('Connected');
    expect(await who(ada)).toBe('you are ada');
    expect(await endOf(ada)).toBe(null);
  });

  it.each([
    ['takes a refresh token once', false, /^account_required: .*lost on the way/, 'answer_lost'],
    ['takes the former one too', true, /^you are ada$/, null],
  ])(
    '[ACC-8] after an object that ended in between loses no account: the issuer %s',
    async (_name, takesFormer, expected, ended) => {
      pass(LIFE_MS + 1_000);
      let answer = () => {};
      issuer.pause = new Promise<void>(resolve => (answer = resolve));
      issuer.takesFormer = takesFormer;
      const call = who(ada);
      await vi.waitFor(() => expect(issuer.renewals).toBe(1), PATIENT);
      await loseMemory(objectOf(ada));
      expect(await call).toMatch(/^credential_unavailable: /);
      answer();
      expect(await who(ada)).toMatch(expected);
      expect(await endOf(ada)).toBe(ended);
    },
  );
});

describe('a refusal by the issuer', () => {
  it('[ACC-8] ends the account, with an audit row that says why; others continue', async () => {
    issuer.forget('ada');
    pass(LIFE_MS + 1_000);
    expect(await who(ada)).toMatch(/^account_required: .*ended there.*\/connect\/tickets/);
    pass(LIFE_MS + 5_000);
    const asked = tickets.asked;
    expect(await who(ada)).toMatch(/^account_required: .*ended there/);
    expect([issuer.renewals, tickets.asked]).toEqual([1, asked]);
    expect([await endOf(ada), await expiries(ada)]).toEqual(['refused', [['done', 'refused']]]);
    const kept = await env.DB.prepare(
      `SELECT a.auth_sealed, g.refresh_sealed FROM accounts AS a JOIN account_grants AS g ON g.account_id = a.id WHERE a.principal_id = ?`,
    )
      .bind(ada.principalId)
      .first();
    expect(kept).toEqual({ auth_sealed: '', refresh_sealed: null });
    expect(await who(bob)).toBe('you are bob');
    const { accounts } = await (
      await portico.api('GET', '/api/v1/accounts', undefined, { token: ada.token })
    ).json<{ accounts: object[] }>();
    expect(accounts).toMatchObject([{ needs_sign_in: 'refused' }]);
  });
});

describe('a server that refuses a token before its expiry', () => {
  it('[ACC-8] causes a renewal, and the call is repeated with the new one', async () => {
    pass(120_000);
    issuer.forgetAccess();
    tickets.server.posts.length = 0;
    expect(await who(ada)).toBe('you are ada');
    expect([issuer.renewals, tickets.server.of('tools/call').length]).toEqual([1, 1]);
  });

  it('[ACC-8] causes no renewal of a new token', async () => {
    pass(10_000);
    issuer.forgetAccess();
    expect(await who(ada)).toMatch(/^account_required: .*refuses your account/);
    expect([issuer.renewals, await endOf(ada)]).toEqual([0, null]);
  });

  it('[ACC-8] and names another issuer causes no request to the former one', async () => {
    pass(120_000);
    issuer.forgetAccess();
    const other = new IssuedServer('moved');
    serveIssued(tickets, other);
    tickets.issuerNamed = other.issuer.url;
    expect(await who(ada)).toMatch(/^account_required: .*another authorization server/);
    expect([issuer.renewals, other.issuer.asked]).toEqual([0, []]);
    expect(await endOf(ada)).toBe('issuer_changed');
    const browser = await signIn(portico, bob.token);
    const back = other.issuer.agree(await leave(browser, 'tickets'), 'bob');
    expect(await comeBack(browser, back)).toContain('Connected');
    expect(await accountRows()).toMatchObject([
      { principal: bob.principalId, issuer: other.issuer.url, ended: null },
    ]);
    expect(other.issuer.registered).toBe(1);
  });
});
