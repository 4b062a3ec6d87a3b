/** Requests that a client signs cost a row each: those of one address that give no tokens are limited. */
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { ASSERTION_TYPE } from '../../../src/oauth/clients/client-credentials.ts';
import { createAssertionIssuer } from '../../fixtures/assertion-issuer.ts';
import {
  allow,
  authorizePath,
  CALLBACK,
  createClient,
  errorOf,
  signIn,
  VERIFIER,
  type TokenAnswer,
} from '../support/oauth-client.ts';
import { createPortico, createToken, ORIGIN, type Portico } from '../support/portico.ts';

const ADDRESS = '198.51.100.7';
let portico: Portico;

/** A program with a key, and its requests from an address. */
async function createProgram() {
  const id = await createClient();
  const key = await createAssertionIssuer(id);
  await env.DB.prepare('UPDATE oauth_clients SET auth_methods = ?, jwks = ? WHERE id = ?')
    .bind('["private_key_jwt"]', JSON.stringify(key.jwks), id)
    .run();
  const ask = async (fields: Record<string, string>, address = ADDRESS, path = '/token') => {
    const assertion = await key.sign({ sub: id, aud: ORIGIN }, { header: { typ: 'JWT' } });
    return portico.fetch(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'cf-connecting-ip': address,
      },
      body: String(
        new URLSearchParams({
          ...fields,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: assertion,
        }),
      ),
    });
  };
  return { id, ask };
}
const rows = () => env.DB.prepare('SELECT count(*) AS n FROM oauth_assertions').first('n');

beforeEach(async () => {
  portico = createPortico();
  await env.DB.exec('DELETE FROM oauth_assertions');
});

it('[ACC-5] [SEC-4] of one address without success are bounded, and affect nobody else', async () => {
  const { ask } = await createProgram();
  const guess = { grant_type: 'refresh_token', refresh_token: 'x' };
  const answers: [number, string][] = [];
  for (let sent = 0; sent < 40; sent += 1) answers.push(await errorOf(await ask(guess)));
  expect(answers.filter(([status]) => status === 400)).toHaveLength(30);
  expect(answers.at(-1)).toEqual([429, 'slow_down']);
  expect(await errorOf(await ask({ token: 'x' }, ADDRESS, '/revoke'))).toEqual([429, 'slow_down']);
  expect(await rows()).toBe(30);
  expect(await errorOf(await ask(guess, '192.0.2.1'))).toEqual([400, 'invalid_grant']);
});

it('[ACC-5] that get tokens are not, however many people use the program', async () => {
  const { id, ask } = await createProgram();
  const browser = await signIn(portico, (await createToken(portico)).token);
  const code = (await allow(browser, authorizePath(id))).get('code') ?? '';
  let fields: Record<string, string> = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
  };
  for (let used = 0; used < 40; used += 1) {
    const answer = await ask(fields);
    expect([used, answer.status]).toEqual([used, 200]);
    const { refresh_token: token } = await answer.json<TokenAnswer>();
    fields = { grant_type: 'refresh_token', refresh_token: token };
  }
});
