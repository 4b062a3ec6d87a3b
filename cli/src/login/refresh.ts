/** Refreshes an access token at a gateway, and revokes tokens. */
import * as oauth from 'oauth4webapi';
import { during, optionsFor } from './authorization-server.ts';
import type { Login } from './login-store.ts';

const serverOf = (origin: string, login: Login): oauth.AuthorizationServer => ({
  issuer: origin,
  token_endpoint: login.token_endpoint,
  revocation_endpoint: login.revocation_endpoint,
});

/** The gateway no longer knows the grant or the client. */
const isOver = (error: unknown): boolean =>
  error instanceof oauth.ResponseBodyError &&
  (error.error === 'invalid_grant' || error.error === 'invalid_client');

/** @returns undefined where the gateway no longer knows the login @throws Failure where the gateway cannot answer now */
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
 * Revokes a token at the gateway.
 * @returns whether the gateway knows the client; if not, there is nothing to revoke
 * @throws Failure where the gateway cannot answer now
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
