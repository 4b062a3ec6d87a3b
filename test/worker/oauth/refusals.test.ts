/** Refusals of a known client leave a row, at most once a minute; requests of strangers cannot fill the audit. */
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import { DEVICE_GRANT } from '../../../src/oauth/clients/client.ts';
import { OAuthError, type OAuthErrorCode } from '../../../src/oauth/oauth-error.ts';
import { Refusals } from '../../../src/oauth/refusals.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  allow,
  askForTokens,
  authorizePath,
  createClient,
  errorOf,
  redeem,
  signIn,
} from '../support/oauth-client.ts';
import { createPortico, createToken } from '../support/portico.ts';

const portico = createPortico();

interface Row {
  action: string;
  subject: string;
  outcome: string;
}
/** Rows of these actions for a client, as an administrator reads them. */
async function rowsOf(client: string): Promise<Row[]> {
  const actions = ['client.authenticate', 'grant.use'];
  const pages = await Promise.all(
    actions.map(async action =>
      (await portico.api('GET', `/api/v1/audit?action=${action}`)).json<{ events: Row[] }>(),
    ),
  );
  return pages.flatMap(({ events }) => events).filter(({ subject }) => subject === client);
}

it('[ACC-5] [SEC-6] are in the audit, equal ones once', async () => {
  const made = await portico.api('POST', '/api/v1/oauth/clients', {
    name: 'Reports',
    redirect_uris: ['https://program.example.com/callback'],
  });
  const { id } = await made.json<{ id: string }>();
  const guess = { grant_type: 'refresh_token', client_id: id, refresh_token: 'x' };
  for (const secret of ['wrong', 'wrong', 'too']) {
    const refused = await askForTokens(portico, { ...guess, client_secret: secret });
    expect(await errorOf(refused)).toEqual([401, 'invalid_client']);
  }
  const expected = { action: 'client.authenticate', subject: id, outcome: 'denied' };
  expect(await rowsOf(id)).toMatchObject([expected]);
});

it('[ACC-5] [SEC-6] of a code with a wrong verifier are too, and of an unknown client are not', async () => {
  const clientId = await createClient();
  const { token } = await createToken(portico);
  const browser = await signIn(portico, token);
  const code = (await allow(browser, authorizePath(clientId))).get('code') ?? '';
  const wrong = await redeem(portico, clientId, code, { code_verifier: 'x'.repeat(43) });
  expect(await errorOf(wrong)).toEqual([400, 'invalid_grant']);
  expect(await rowsOf(clientId)).toMatchObject([{ action: 'grant.use', outcome: 'denied' }]);
  const stranger = await redeem(portico, 'nobody', code);
  expect(await errorOf(stranger)).toEqual([401, 'invalid_client']);
  expect(await rowsOf('nobody')).toEqual([]);
  const unsaid = await askForTokens(portico, { grant_type: 'password', client_id: clientId });
  expect(await errorOf(unsaid)).toEqual([400, 'unsupported_grant_type']);
  expect(await rowsOf(clientId)).toHaveLength(1);
});

it('[ACC-5] leave no client: one that nobody let in counts as unused, whatever it sends', async () => {
  const site = 'https://stranger.example.com';
  const document = `${site}/client.json`;
  const metadata = { client_name: 'Stranger', redirect_uris: [`${site}/cb`] };
  fakeUpstreams({ [site]: () => Response.json({ ...metadata, client_id: document }) });
  const made = await portico.fetch('/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...metadata, token_endpoint_auth_method: 'none' }),
  });
  const { client_id: registered } = await made.json<{ client_id: string }>();
  for (const client_id of [document, registered]) {
    for (const grant_type of ['authorization_code', 'refresh_token', DEVICE_GRANT]) {
      const refused = await askForTokens(portico, { grant_type, client_id });
      expect(await errorOf(refused)).toEqual([400, 'invalid_grant']);
    }
  }
  const { results } = await env.DB.prepare(
    "SELECT id, last_used_at FROM oauth_clients WHERE kind <> 'manual'",
  ).all();
  expect(results).toEqual([{ id: registered, last_used_at: null }]);
});

let now = 0;
const refusals = () => new Refusals(new AdminAudit(env.DB), () => now);
const refusedAs = (code: OAuthErrorCode, clientId?: string) =>
  Object.assign(new OAuthError(code, 'It was not right'), { clientId });
const count = async () =>
  (
    await env.DB.prepare(
      "SELECT count(*) AS n FROM audit_events WHERE action IN ('client.authenticate', 'grant.use')",
    ).first<{ n: number }>()
  )?.n ?? 0;
beforeEach(() => {
  now += 3_600_000;
});

it('[SEC-6] are recorded again after a minute, and at most thirty in one minute', async () => {
  const told = refusals();
  const before = await count();
  const note = (id: string) => told.note(refusedAs('invalid_client', id));
  await note('a');
  now += 59_999;
  await note('a');
  expect((await count()) - before).toBe(1);
  now += 1;
  await note('a');
  expect((await count()) - before).toBe(2);
  for (let i = 0; i < 40; i += 1) await note(`b${i}`);
  expect((await count()) - before).toBe(31);
});

it('[SEC-6] are recorded neither for other errors nor for unknown clients; a failing audit changes no answer', async () => {
  const told = refusals();
  const before = await count();
  await told.note(refusedAs('invalid_client'));
  await told.note(refusedAs('temporarily_unavailable', 'a'));
  await told.note(refusedAs('invalid_request', 'a'));
  expect((await count()) - before).toBe(0);
  const broken = {
    prepare: () => {
      throw new Error('no storage');
    },
  } as unknown as D1Database;
  const failing = new Refusals(new AdminAudit(broken), () => now);
  await expect(failing.note(refusedAs('invalid_client', 'a'))).resolves.toBeUndefined();
});
