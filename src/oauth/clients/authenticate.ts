/**
 * Authenticates clients at `/token` and `/revoke`. A client must use one of its own methods, so a client with a secret or keys cannot skip
 * them.
 */
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { forClient, OAuthError } from '../oauth-error.ts';
import type { AssertionCheck } from './assertion-check.ts';
import type { AuthenticatedClient } from './client.ts';
import { parseAssertion } from './client-assertion.ts';
import { readClientCredentials, type ClientCredentials } from './client-credentials.ts';
import { toSecretHmacs } from './client-secret.ts';
import { moveSecret, type StoredClient } from './client-store.ts';

export interface AuthenticationPorts {
  db: D1Database;
  keys: KeyRing;
  assertions: AssertionCheck;
  find(clientId: string): Promise<StoredClient | undefined>;
}

export class ClientAuthentication {
  readonly #ports: AuthenticationPorts;

  constructor(ports: AuthenticationPorts) {
    this.#ports = ports;
  }

  /** @throws OAuthError `invalid_request`, `invalid_client`, `temporarily_unavailable` */
  async of(headers: Headers, form: URLSearchParams, issuer: string): Promise<AuthenticatedClient> {
    const shown = readClientCredentials(headers, form);
    return { ...(await this.#check(shown, issuer)), method: shown.method };
  }

  async #check(shown: ClientCredentials, issuer: string): Promise<StoredClient> {
    if (shown.method !== 'private_key_jwt') {
      const client = await this.#find(shown.clientId);
      return forClient(client.id, async () => {
        requireMethod(client, shown.method);
        if (shown.method !== 'none') await this.#checkSecret(client, shown.secret);
        return client;
      });
    }
    const assertion = parseAssertion(shown.assertion);
    const client = await this.#find(assertion.claims.sub);
    return forClient(client.id, async () => {
      requireMethod(client, shown.method);
      await this.#ports.assertions.take(client, assertion, shown.clientId, issuer);
      return client;
    });
  }

  async #find(id: string): Promise<StoredClient> {
    const client = await this.#ports.find(id);
    if (!client) throw new OAuthError('invalid_client', 'There is no such client');
    return client;
  }

  /** Checks the secret. A secret stored under another key of the key ring is moved to the active key. */
  async #checkSecret(client: StoredClient, secret: string): Promise<void> {
    const { db, keys } = this.#ports;
    const hmacs = await toSecretHmacs(keys, secret);
    // HMACs are compared, so the time this takes reveals nothing about the secret.
    const at = client.secretHmac === null ? -1 : hmacs.indexOf(client.secretHmac);
    if (at < 0) throw new OAuthError('invalid_client', 'The secret of the client is not right');
    if (at > 0) await moveSecret(db, client, hmacs[0] ?? '', keys.active).run();
  }
}

function requireMethod({ authMethods }: StoredClient, method: ClientCredentials['method']): void {
  if (authMethods.includes(method)) return;
  throw new OAuthError('invalid_client', `The client may not use ${method}`);
}
