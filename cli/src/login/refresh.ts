/** Asks a gateway for another access token, and tells it that a login ends. */
import * as oauth from 'oauth4webapi';
import { during, optionsFor } from './authorization-server.ts';
import type { Login } from './login-store.ts';

const serverOf = (origin: string, login: Login): oauth.AuthorizationServer => ({
  issuer: origin,
  token_endpoint: login.token_endpoint,
  revocation_endpoint: login.revocation_endpoint,
});

/** What the library judges as wrong of the client or the grant: the gateway knows one of them no more. */
const isOver = (error: unknown): boolean =>
  error instanceof oauth.ResponseBodyError &&
  (error.error === 'invalid_grant' || error.error === 'invalid_client');

/** @returns undefined where the gateway knows the login no more @throws Failure where it cannot be asked now */
export function askRefresh(origin: string, login: Login): Promise<Login | undefined> {
  const [as, client] = [serverOf(origin, login), { client_id: login.client_id }];
  return during(origin, async () => {
    const answer = await oauth.refreshTokenGrantRequest(
      as,
      client,
      oauth.None(),
      login.refresh_token,
      optionsFor(origin),
    );
    try {
      const given = await oauth.processRefreshTokenResponse(as, client, answer);
      return {
        ...login,
        access_token: given.access_token,
        refresh_token: given.refresh_token ?? login.refresh_token,
        expires_at: Date.now() + (given.expires_in ?? 0) * 1000,
      };
    } catch (error) {
      if (isOver(error)) return undefined;
      throw error;
    }
  });
}

/**
 * End a token at the gateway.
 * @returns whether the gateway knows the client; where not, there is nothing to end
 * @throws Failure where it cannot be asked now
 */
export function askRevoke(origin: string, login: Login, token: string): Promise<boolean> {
  const client = { client_id: login.client_id };
  return during(origin, async () => {
    const answer = await oauth.revocationRequest(
      serverOf(origin, login),
      client,
      oauth.None(),
      token,
      optionsFor(origin),
    );
    try {
      await oauth.processRevocationResponse(answer);
      return true;
    } catch (error) {
      if (isOver(error)) return false;
      throw error;
    }
  });
}
