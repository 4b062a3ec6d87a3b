/**
 * Signs in with a browser on this machine: opens a page of the gateway, which redirects to this process with a code (RFC 8252, RFC 7636,
 * RFC 9207).
 */
import * as oauth from 'oauth4webapi';
import { Failure } from '../failure.ts';
import { note } from '../terminal.ts';
import {
  askedOf,
  during,
  optionsFor,
  toLogin,
  type AuthorizationServer,
} from './authorization-server.ts';
import { listenForCallback } from './callback.ts';
import type { Login } from './login-store.ts';
import { openBrowser } from './open-browser.ts';

const WAIT_MS = 600_000;
/** Width of a terminal that does not report it. */
const USUAL_COLUMNS = 80;

export interface BrowserLoginOptions {
  /** Open the page instead of only showing its address. */
  opens: boolean;
  /** Aborts the login; its reason is thrown. */
  signal: AbortSignal;
}

/** @throws Failure */
export async function loginByBrowser(
  server: AuthorizationServer,
  clientId: string,
  { opens, signal }: BrowserLoginOptions,
): Promise<Login> {
  const { origin, as } = server;
  const client = { client_id: clientId };
  const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
  const callback = await listenForCallback(state);
  const late = AbortSignal.timeout(WAIT_MS);
  try {
    const page = new URL(as.authorization_endpoint ?? '');
    page.search = String(
      new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: callback.redirectUri,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        ...askedOf(server),
      }),
    );
    const isOpened = opens && (await openBrowser(page));
    note(
      isOpened
        ? 'Sign in on the page that opens. If none does, open this one:'
        : 'Open this page in a browser on this machine:',
    );
    note(`\n  ${page.href}\n`);
    const { isTTY, columns } = process.stderr;
    if (isTTY && page.href.length + 2 > (columns || USUAL_COLUMNS))
      note(`If that is cut into lines, open ${callback.linkTo(page)} instead.\n`);
    const { query, show } = await untilAborted(callback.arrival, AbortSignal.any([signal, late]));
    try {
      const login = await during(origin, async () => {
        const answer = oauth.validateAuthResponse(as, client, query, state);
        const given = await oauth.authorizationCodeGrantRequest(
          as,
          client,
          oauth.None(),
          answer,
          callback.redirectUri,
          verifier,
          { ...optionsFor(origin, signal), additionalParameters: { resource: origin } },
        );
        return toLogin(
          server,
          clientId,
          await oauth.processAuthorizationCodeResponse(as, client, given),
        );
      });
      await show('You are signed in', 'You can close this window.');
      return login;
    } catch (error) {
      await show('You are not signed in', 'Your terminal says why. You can close this window.');
      throw error;
    }
  } finally {
    await callback.close();
  }
}

/** @throws the reason of the signal */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => {
    const { reason } = signal as { reason: unknown };
    reject(reason instanceof Failure ? reason : new Failure('nobody signed in within ten minutes'));
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return Promise.race([work, promise]);
}
