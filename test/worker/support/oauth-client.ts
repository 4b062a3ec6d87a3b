/** A program that asks a person for authorization, as far as the authorization server sees it, and the person's browser. */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { createBrowser, type Browser } from './browser.ts';
import { modern, ORIGIN, type Portico } from './portico.ts';

/** RFC 7636, appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const CALLBACK = 'https://program.example.com/callback';

export interface TokenAnswer {
  access_token: string;
  refresh_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
}

/** A client that an administrator created. */
export async function createClient(
  id: string = crypto.randomUUID(),
  redirectUris: readonly string[] = [CALLBACK],
): Promise<string> {
  await env.DB.prepare(
    `INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, created_at) VALUES (?, 'manual', 'A <b>program</b>', ?, '["none"]', 1)`,
  )
    .bind(id, JSON.stringify(redirectUris))
    .run();
  return id;
}

/** The path that a program opens in the browser. */
export const authorizePath = (
  clientId: string,
  more: Record<string, string | undefined> = {},
): string => {
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'a state',
    resource: `${ORIGIN}/mcp`,
    ...more,
  };
  const there = Object.entries(asked).filter(([, value]) => value !== undefined);
  return `/authorize?${new URLSearchParams(there as [string, string][])}`;
};

/** A browser in which the owner of a token is signed in. */
export async function signIn(portico: Portico, token: string): Promise<Browser> {
  const browser = createBrowser(portico);
  const answer = await browser.post('/sign-in', { code: token });
  expect(answer.status).toBe(303);
  return browser;
}

/** The answer to the program: the query of the redirect. */
export function answerOf(response: Response): URLSearchParams {
  expect(response.status).toBe(303);
  return new URL(response.headers.get('location') ?? '').searchParams;
}

/** The answer to the program in the page that leads on to it: the query of its address. */
export async function answerIn(response: Response): Promise<URLSearchParams> {
  expect(response.status).toBe(200);
  const [, address = ''] = /content="0;url=([^"]*)"/.exec(await response.text()) ?? [];
  return new URL(address.replaceAll('&amp;', '&')).searchParams;
}

/** The person allows the request of the page. */
export async function allow(browser: Browser, path: string): Promise<URLSearchParams> {
  const asked = await browser.get(path);
  if (asked.status === 303) return answerOf(asked);
  return answerIn(await decide(browser, await asked.text(), 'allow'));
}

/** Sends the form of a page. */
export function decide(browser: Browser, page: string, decision: string): Promise<Response> {
  const handle = /name="handle" value="([^"]+)"/.exec(page)?.[1] ?? '';
  return browser.post('/authorize', { handle, decision });
}

/** Requests tokens. */
export function askForTokens(
  portico: Portico,
  fields: Record<string, string>,
  path = '/token',
): Promise<Response> {
  return portico.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(fields)),
  });
}

/** Redeems a code. */
export const redeem = (
  portico: Portico,
  clientId: string,
  code: string,
  more: Record<string, string> = {},
): Promise<Response> =>
  askForTokens(portico, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    ...more,
  });

/** Use a refresh token. */
export const refresh = (
  portico: Portico,
  clientId: string,
  token: string,
  more: Record<string, string> = {},
): Promise<Response> =>
  askForTokens(portico, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: token,
    ...more,
  });

/** The whole flow: a person authorizes a program. */
export async function connect(
  portico: Portico,
  clientId: string,
  token: string,
  more: Record<string, string | undefined> = {},
): Promise<TokenAnswer> {
  const browser = await signIn(portico, token);
  const code = (await allow(browser, authorizePath(clientId, more))).get('code') ?? '';
  const answer = await redeem(portico, clientId, code);
  expect(answer.status).toBe(200);
  return answer.json<TokenAnswer>();
}

/** A modern request with a token, to an endpoint of a portico. */
export function send(
  portico: Portico,
  token: string,
  method = 'tools/list',
  params: Record<string, unknown> = {},
  path = '/mcp',
): Promise<Response> {
  const { message, headers } = modern(method, params);
  return portico.post(message, { token, headers }, path);
}

/** Status and code of an error of the authorization server. */
export async function errorOf(response: Response): Promise<[status: number, error: string]> {
  const { error } = await response.json<{ error: string }>();
  return [response.status, error];
}
