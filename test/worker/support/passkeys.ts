/** People with passkeys: a browser at a host that supports them, and the steps through its forms. */
import { expect } from 'vitest';
import {
  createAuthenticator,
  type Authenticator,
  type Wrong,
} from '../../fixtures/authenticator.ts';
import { createBrowser, type Browser } from './browser.ts';
import { allow, authorizePath, createClient, redeem, type TokenAnswer } from './oauth-client.ts';
import { createPortico, type Portico } from './portico.ts';

/** Passkeys require a host name, not an address. */
export const NAMED = 'http://localhost:8787';
export const createNamed = (): Portico => createPortico({}, NAMED);
/** A browser that uses that name. */
export const openBrowser = (portico: Portico): Browser => createBrowser(portico, NAMED);

type Asked = Record<string, unknown> & { challenge: string };

/** The challenge of the gateway; the browser keeps the cookie. */
export async function ask(browser: Browser, path: string): Promise<Asked> {
  const answer = await browser.post(path, {});
  expect(answer.status).toBe(200);
  return answer.json<Asked>();
}

/** Registers a passkey in a browser in which somebody is signed in. */
export async function addPasskey(
  browser: Browser,
  authenticator: Authenticator,
  { wrong, name = 'Laptop' }: { wrong?: Wrong; name?: string } = {},
): Promise<Response> {
  const asked = await ask(browser, '/sign-in/passkeys/start');
  const answer = await authenticator.add(asked, NAMED, wrong);
  return browser.post('/sign-in/passkeys', { name, answer });
}

/** Signs in by a passkey. */
export async function signInBy(
  browser: Browser,
  authenticator: Authenticator,
  wrong?: Wrong,
): Promise<Response> {
  // An answer must belong to a newer challenge than the one before.
  const now = Date.now();
  while (Date.now() === now) await scheduler.wait(1);
  const asked = await ask(browser, '/sign-in/passkey/start');
  const answer = await authenticator.signIn(asked, NAMED, wrong);
  return browser.post('/sign-in/passkey', { answer });
}

/** A browser signed in with this token or invitation. */
export async function signedIn(portico: Portico, code: string): Promise<Browser> {
  const browser = openBrowser(portico);
  expect((await browser.post('/sign-in', { code })).status).toBe(303);
  return browser;
}

/** A passkey of the owner of this token or invitation. */
export async function passkeyOf(
  portico: Portico,
  code: string,
  { counts = false, name = 'Laptop' }: { counts?: boolean; name?: string } = {},
): Promise<Authenticator> {
  const made = await createAuthenticator(-7, counts);
  const added = await addPasskey(await signedIn(portico, code), made, { name });
  expect([added.status, added.headers.get('location')]).toEqual([303, '/sign-in/passkeys']);
  return made;
}

/** The name of the signed-in person in a browser; undefined without one. */
export async function shownIn(browser: Browser): Promise<string | undefined> {
  const page = await (await browser.get('/sign-in')).text();
  return /signed in as <strong>([^<]*)</.exec(page)?.[1];
}

/** A passkey as administrators see it. */
export interface View {
  id: string;
  name: string;
  principal: string;
  token: string | null;
  identity: string | null;
  last_used_at: string | null;
}

/** A person signed in by a passkey authorizes a program. */
export async function letIn(
  portico: Portico,
  browser: Browser,
): Promise<TokenAnswer & { clientId: string }> {
  const clientId = await createClient();
  const resource = `${NAMED}/mcp`;
  const code = (await allow(browser, authorizePath(clientId, { resource }))).get('code') ?? '';
  const answer = await redeem(portico, clientId, code);
  expect(answer.status).toBe(200);
  return { ...(await answer.json<TokenAnswer>()), clientId };
}
