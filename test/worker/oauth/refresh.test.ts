/**
 * Refreshing and ending: of processes that share one refresh token none is signed out, and a token that is used later ends its grant. The
 * end of what a grant is based on ends it within a second.
 */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRandom, drawn, SEED } from '../../unit/seeded.ts';
import { pass } from '../support/clock.ts';
import { addIdentity } from '../support/identities.ts';
import { createPortico, createToken, type Portico } from '../support/portico.ts';
import {
  allow,
  askForTokens,
  authorizePath,
  connect,
  createClient,
  errorOf,
  redeem,
  refresh,
  send,
  signIn,
  type TokenAnswer,
} from '../support/oauth-client.ts';

const portico = createPortico();
const call = (token: string, from: Portico = portico) => send(from, token);
const status = async (token: string, from?: Portico) => (await call(token, from)).status;
const grantsOf = async (clientId: string) => {
  const { results } = await env.DB.prepare(
    'SELECT id, principal_id FROM oauth_grants WHERE client_id = ?',
  )
    .bind(clientId)
    .all<{ id: string; principal_id: string }>();
  return results;
};

afterEach(() => {
  vi.useRealTimers();
});

describe('a refresh token', () => {
  it('[ACC-5] gives a new one with an access token, within what was allowed', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const first = await connect(portico, clientId, token);
    const answer = await refresh(portico, clientId, first.refresh_token);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const second = await answer.json<TokenAnswer>();
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect([await status(first.access_token), await status(second.access_token)]).toEqual([
      200, 200,
    ]);
    const more = await refresh(portico, clientId, second.refresh_token, { scope: 'admin' });
    expect(await errorOf(more)).toEqual([400, 'invalid_scope']);
    const other = await createClient();
    const foreign = await refresh(portico, other, second.refresh_token);
    expect(await errorOf(foreign)).toEqual([400, 'invalid_grant']);
    expect((await refresh(portico, clientId, second.refresh_token)).status).toBe(200);
  });

  it('[ACC-5] [SEC-4] leaves a bounded number of tokens, however often it is used', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const first = await connect(portico, clientId, token);
    const [grant] = await grantsOf(clientId);
    await env.DB.prepare(
      `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 1200)
       INSERT INTO oauth_refresh_tokens (hmac, key_id, grant_id, created_at, expires_at, used_at)
       SELECT 'old ' || at, 'k1', ?, at, ?, at FROM n`,
    )
      .bind(grant?.id, Date.now() + 86_400_000)
      .run();
    let last = first;
    for (let uses = 0; uses < 55; uses += 1) {
      last = await (await refresh(portico, clientId, last.refresh_token)).json<TokenAnswer>();
    }
    const countOf = (table: string) =>
      env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE grant_id = ?`)
        .bind(grant?.id)
        .first('n');
    expect([await countOf('tokens'), await countOf('oauth_refresh_tokens')]).toEqual([50, 1000]);
    expect([await status(first.access_token), await status(last.access_token)]).toEqual([401, 200]);
    expect((await refresh(portico, clientId, last.refresh_token)).status).toBe(200);
  });

  it('[ACC-5] gives concurrent users the same tokens, and a later use ends the grant', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const first = await connect(portico, clientId, token);
    const others = [portico, createPortico(), createPortico()];
    const answers = await Promise.all(
      others.flatMap(from => [1, 2, 3].map(() => refresh(from, clientId, first.refresh_token))),
    );
    expect(answers.map(answer => answer.status)).toEqual(answers.map(() => 200));
    const given = await Promise.all(answers.map(answer => answer.json<TokenAnswer>()));
    expect(new Set(given.map(each => each.refresh_token)).size).toBe(1);
    pass(61_000);
    expect(await errorOf(await refresh(portico, clientId, first.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect(await grantsOf(clientId)).toEqual([]);
    expect(await status(given[0]?.access_token ?? '')).toBe(401);
  });

  it('[ACC-5] and its access token expire', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const first = await connect(portico, clientId, token);
    pass(3_600_001);
    expect(await status(first.access_token)).toBe(401);
    const second = await (
      await refresh(portico, clientId, first.refresh_token)
    ).json<TokenAnswer>();
    pass(30 * 86_400_000 + 1);
    expect(await errorOf(await refresh(portico, clientId, second.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
  });

  it('[ACC-5] [ACC-7] of an idle program is valid past the former end of an identity that was renewed', async () => {
    const [day, start] = [86_400_000, Date.now()];
    const { token, id } = await createToken(portico);
    const principal = env.DB.prepare('SELECT principal_id FROM tokens WHERE id = ?').bind(id);
    const identity = await addIdentity(
      (await principal.first<string>('principal_id')) ?? '',
      [],
      7 * day,
    );
    const browser = await signIn(portico, token);
    // A sign-in as by a provider.
    await env.DB.prepare('UPDATE sign_ins SET token_id = NULL, identity_id = ? WHERE token_id = ?')
      .bind(identity, id)
      .run();
    const renew = (days: number) =>
      env.DB.prepare('UPDATE identities SET expires_at = ? WHERE id = ?')
        .bind(start + days * day, identity)
        .run();
    const letIn = async () => {
      const clientId = await createClient();
      const code = (await allow(browser, authorizePath(clientId))).get('code') ?? '';
      const tokens = await (await redeem(portico, clientId, code)).json<TokenAnswer>();
      return async () => (await refresh(portico, clientId, tokens.refresh_token)).status;
    };
    const [early, late, idle] = [await letIn(), await letIn(), await letIn()];
    await renew(13);
    pass(8 * day);
    expect(await early()).toBe(200);
    pass(6 * day);
    expect(await late()).toBe(400);
    // The next sign-in after that end, and thirty days without use.
    await renew(90);
    expect(await late()).toBe(200);
    pass(17 * day);
    expect(await idle()).toBe(400);
  });

  it('[ACC-5] that cannot be looked up temporarily does not lose the grant', async () => {
    const broken = createPortico({
      DB: {
        ...env.DB,
        prepare: () => {
          throw new Error('no storage');
        },
      } as unknown as D1Database,
    });
    const answer = await refresh(broken, 'a-client', `portico_refresh_${'x'.repeat(43)}`);
    expect(await errorOf(answer)).toEqual([503, 'temporarily_unavailable']);
    expect(answer.headers.get('retry-after')).not.toBeNull();
  });
});

describe('the end of', () => {
  const ends: [
    string,
    (at: { clientId: string; id: string; tokens: TokenAnswer }) => Promise<unknown>,
  ][] = [
    [
      'the token by which the person signed in',
      ({ id }) => portico.api('DELETE', `/api/v1/tokens/${id}`),
    ],
    ['a value of that token', ({ id }) => portico.api('POST', `/api/v1/tokens/${id}/rotate`, {})],
    [
      'the principal',
      async ({ clientId }) =>
        portico.api('DELETE', `/api/v1/principals/${(await grantsOf(clientId))[0]?.principal_id}`),
    ],
    [
      'the grant',
      async ({ clientId }) =>
        portico.api('DELETE', `/api/v1/grants/${(await grantsOf(clientId))[0]?.id}`),
    ],
    [
      'the refresh token, as the client says',
      ({ clientId, tokens }) =>
        askForTokens(portico, { client_id: clientId, token: tokens.refresh_token }, '/revoke'),
    ],
  ];
  it.each(ends)('[ACC-5] [ACC-1] %s ends the tokens within a second', async (_what, end) => {
    const { token, id } = await createToken(portico);
    const clientId = await createClient();
    const tokens = await connect(portico, clientId, token);
    const other = createPortico();
    expect(await status(tokens.access_token, other)).toBe(200);
    await end({ clientId, id, tokens });
    expect(await status(tokens.access_token)).toBe(401);
    expect(await errorOf(await refresh(portico, clientId, tokens.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
    pass(1_001);
    expect(await status(tokens.access_token, other)).toBe(401);
    expect(await grantsOf(clientId)).toEqual([]);
  });

  it('[ACC-5] an access token keeps the grant, and only its own client can revoke it', async () => {
    const { token } = await createToken(portico);
    const [clientId, other] = [await createClient(), await createClient()];
    const tokens = await connect(portico, clientId, token);
    const revoke = (client: string, value: string) =>
      askForTokens(portico, { client_id: client, token: value }, '/revoke');
    expect((await revoke(other, tokens.access_token)).status).toBe(200);
    expect((await revoke(clientId, 'nothing of ours')).status).toBe(200);
    expect((await revoke(clientId, token)).status).toBe(200);
    expect([await status(tokens.access_token), await status(token)]).toEqual([200, 200]);
    expect((await revoke(clientId, tokens.access_token)).status).toBe(200);
    expect(await status(tokens.access_token)).toBe(401);
    expect((await refresh(portico, clientId, tokens.refresh_token)).status).toBe(200);
  });

  it('[ACC-5] the sign-in that asked leaves nothing to allow', async () => {
    const { token, id } = await createToken(portico);
    const clientId = await createClient();
    const browser = await signIn(portico, token);
    const page = await (await browser.get(authorizePath(clientId))).text();
    await portico.api('DELETE', `/api/v1/tokens/${id}`);
    const handle = /name="handle" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const answer = await browser.post('/authorize', { handle, decision: 'allow' });
    expect(answer.status).toBe(403);
    expect(await grantsOf(clientId)).toEqual([]);
  });
});

/** How many random interleavings are run. */
const STORIES = drawn(250);

it(`[ACC-5] in ${STORIES} interleavings (seed ${SEED}) of three processes there is one live chain, and nobody honest is signed out`, async () => {
  const random = createRandom();
  const processes = [portico, createPortico(), createPortico()];
  const { token } = await createToken(portico);
  const clientId = await createClient();
  const browser = await signIn(portico, token);
  const afterEnd: unknown[][] = [];
  for (let story = 0; story < STORIES; story += 1) {
    const code = (await allow(browser, authorizePath(clientId))).get('code') ?? '';
    const given = await askForTokens(portico, {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    });
    // Each process has its own isolate and reads the shared store before it refreshes.
    const store = { tokens: await given.json<TokenAnswer>() };
    const where = `story ${story}`;
    const step = async (from: Portico): Promise<void> => {
      const mine = store.tokens;
      const isCall = random.chance(0.3);
      const answer = isCall
        ? await call(mine.access_token, from)
        : await refresh(from, clientId, mine.refresh_token);
      expect([where, answer.status]).toEqual([where, 200]);
      if (!isCall) store.tokens = await answer.json<TokenAnswer>();
    };
    const rounds = 1 + random.below(3);
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(processes.map(step));
    }
    const live = await env.DB.prepare(
      'SELECT count(*) AS n FROM oauth_refresh_tokens WHERE used_at IS NULL AND grant_id = (SELECT grant_id FROM tokens WHERE grant_id IS NOT NULL ORDER BY created_at DESC, rowid DESC LIMIT 1)',
    ).first<{ n: number }>();
    expect([where, live?.n]).toEqual([where, 1]);
    const last = store.tokens;
    if (random.chance(0.7)) continue;
    const [, raced] = await Promise.all([
      askForTokens(portico, { client_id: clientId, token: last.refresh_token }, '/revoke'),
      refresh(portico, clientId, last.refresh_token),
    ]);
    afterEnd.push([
      where,
      raced.ok || raced.status === 400,
      (await refresh(portico, clientId, last.refresh_token)).status,
      await status(last.access_token),
    ]);
  }
  expect(afterEnd).toEqual(afterEnd.map(([where]) => [where, true, 400, 401]));
}, 600_000);
