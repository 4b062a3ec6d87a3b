/** A code is used once, by its client; its tokens are valid for their resource, within the person's rights. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pass } from '../support/clock.ts';
import { createPortico, createToken, ORIGIN } from '../support/portico.ts';
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

afterEach(() => {
  vi.useRealTimers();
});

describe('a code', () => {
  const codeFor = async (clientId: string) => {
    const { token } = await createToken(portico);
    const browser = await signIn(portico, token);
    return (await allow(browser, authorizePath(clientId))).get('code') ?? '';
  };

  it('[ACC-5] is bound to its client, verifier, redirect and resource', async () => {
    const clientId = await createClient();
    const other = await createClient();
    const code = await codeFor(clientId);
    const wrong: [string, Record<string, string>, string][] = [
      [other, {}, 'invalid_grant'],
      [clientId, { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
      [clientId, { code_verifier: '' }, 'invalid_grant'],
      [clientId, { redirect_uri: 'https://program.example.com/' }, 'invalid_grant'],
      [clientId, { resource: ORIGIN }, 'invalid_target'],
      [clientId, { code: `${code}x` }, 'invalid_grant'],
    ];
    for (const [client, more, error] of wrong) {
      expect([more, ...(await errorOf(await redeem(portico, client, code, more)))]).toEqual([
        more,
        400,
        error,
      ]);
    }
    expect((await redeem(portico, clientId, code)).status).toBe(200);
  });

  it.each<[string, number]>([
    ['at once', 0],
    ['an hour later', 3_600_000],
  ])('[ACC-5] that is used twice, %s, ends the grant', async (_when, later) => {
    const clientId = await createClient();
    const code = await codeFor(clientId);
    const tokens = await (await redeem(portico, clientId, code)).json<TokenAnswer>();
    pass(later);
    const { refresh_token: second } = await (
      await refresh(portico, clientId, tokens.refresh_token)
    ).json<TokenAnswer>();
    expect(await errorOf(await redeem(portico, clientId, code))).toEqual([400, 'invalid_grant']);
    expect((await send(portico, tokens.access_token)).status).toBe(401);
    expect(await errorOf(await refresh(portico, clientId, second))).toEqual([400, 'invalid_grant']);
    const row = await env.DB.prepare(
      "SELECT detail ->> '$.reason' AS reason FROM audit_events WHERE action = 'grant.delete' AND detail ->> '$.client' = ?",
    )
      .bind(clientId)
      .first('reason');
    expect(row).toBe('code_used_twice');
  });

  it('[ACC-5] that expired unused gives nothing', async () => {
    const clientId = await createClient();
    const code = await codeFor(clientId);
    pass(120_000);
    expect(await errorOf(await redeem(portico, clientId, code))).toEqual([400, 'invalid_grant']);
  });

  it('[ACC-5] is used once if ten requests send it at the same moment', async () => {
    const clientId = await createClient();
    const code = await codeFor(clientId);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => redeem(portico, clientId, code)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const { n } = (await env.DB.prepare(
      'SELECT count(*) AS n FROM oauth_grants WHERE client_id = ?',
    )
      .bind(clientId)
      .first<{ n: number }>()) ?? { n: -1 };
    expect(n).toBe(0);
  });
});

describe('the request of a program', () => {
  it.each<[string, Record<string, string>, string, number]>([
    ['no grant type', {}, 'invalid_request', 400],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type', 400],
    ['an unknown client', { grant_type: 'refresh_token', client_id: 'x' }, 'invalid_client', 401],
  ])(
    '[ACC-5] with %s is refused with the error of the standard',
    async (_what, fields, error, status) => {
      expect(await errorOf(await askForTokens(portico, fields))).toEqual([status, error]);
    },
  );

  it('[ACC-5] gets a challenge of its own scheme, and never of Bearer', async () => {
    const ask = async (path: string, authorization?: string) => {
      const answer = await portico.fetch(path, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: 'grant_type=refresh_token&token=x&client_id=nobody',
      });
      return [path, answer.status, answer.headers.get('www-authenticate')];
    };
    for (const path of ['/token', '/revoke', '/device_authorization']) {
      expect(await ask(path)).toEqual([path, 401, null]);
      const basic = `Basic ${btoa('nobody:wrong')}`;
      expect(await ask(path, basic)).toEqual([path, 401, 'Basic realm="portico"']);
    }
  });

  it('[ACC-5] is a form, without duplicates, of bounded length', async () => {
    const post = (type: string, body: string) =>
      portico.fetch('/token', { method: 'POST', headers: { 'content-type': type }, body });
    const form = 'application/x-www-form-urlencoded';
    expect(await errorOf(await post('application/json', '{}'))).toEqual([400, 'invalid_request']);
    expect(await errorOf(await post(form, 'grant_type=a&grant_type=b'))).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await errorOf(await post(form, `code=${'x'.repeat(20_000)}`))).toEqual([
      400,
      'invalid_request',
    ]);
    expect((await portico.fetch('/token')).status).toBe(405);
  });
});

describe('an access token', () => {
  it('[ACC-5] is valid at its URL and below it, at the boundaries of path segments', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const at = async (resource: string | undefined) =>
      (await connect(portico, clientId, token, { resource })).access_token;
    const status = async (access: string, path: string) =>
      (await send(portico, access, 'tools/list', {}, path)).status;
    const [all, mcp, one] = [
      await at(undefined),
      await at(`${ORIGIN}/mcp/`),
      await at(`${ORIGIN}/mcp/servers/one`),
    ];
    expect(await status(all, '/mcp')).toBe(200);
    expect(await status(mcp, '/mcp')).toBe(200);
    expect(await status(mcp, '/mcp/servers/one')).toBe(404);
    expect(await status(one, '/mcp/servers/one')).toBe(404);
    expect(await status(one, '/mcp')).toBe(401);
    expect(await status(one, '/mcp/servers/one2')).toBe(401);
    const rest = (access: string) =>
      portico.api('GET', '/api/v1/token', undefined, { token: access });
    expect([(await rest(all)).status, (await rest(mcp)).status]).toEqual([200, 401]);
  });

  it('[ACC-9] has the limits of the token with which the person was signed in', async () => {
    const { token, id } = await createToken(portico, { tools: ['*.get_*'] });
    const clientId = await createClient();
    await connect(portico, clientId, token);
    const row = await env.DB.prepare(
      'SELECT tools FROM tokens WHERE grant_id IS NOT NULL AND grant_id IN (SELECT id FROM oauth_grants WHERE token_id = ?)',
    )
      .bind(id)
      .first<{ tools: string }>();
    expect(row?.tools).toBe('["*.get_*"]');
  });
});
