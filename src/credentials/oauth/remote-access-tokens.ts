/**
 * Access tokens, as isolates get them: from the server's record, else from its monitor. The monitor's reply is remembered until a record
 * brings a newer token, so a warm call makes no request.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { Lru } from '../../shared/util/lru.ts';
import type { AccessToken } from '../credential-schema.ts';
import { isUsable } from './access-tokens.ts';
import type { AccessTokenReply, AccessTokenSource } from './grant-schema.ts';
import type { CredentialOwner, OpenedCredential } from '../opened-credentials.ts';

/** The monitors of servers. */
export interface AccessTokenRemote {
  accessToken(serverId: string): Promise<AccessTokenReply>;
  refuseAccessToken(serverId: string, serial: number): Promise<void>;
}

const MAX_REMEMBERED = 1_000;

export class RemoteAccessTokens implements AccessTokenSource {
  readonly #remote: (serverId: string) => AccessTokenRemote;
  readonly #answered = new Lru<string, AccessToken>(MAX_REMEMBERED);
  readonly #refused = new Lru<string, number>(MAX_REMEMBERED);

  /** @param remote returns the monitor of a server */
  constructor(remote: (serverId: string) => AccessTokenRemote) {
    this.#remote = remote;
  }

  /** @throws PorticoError `credential_unavailable` */
  async of(server: CredentialOwner, { key }: OpenedCredential): Promise<AccessToken> {
    const { id, credential } = server;
    const now = Date.now();
    const refused = this.#refused.get(id) ?? 0;
    for (const token of [credential.accessToken, this.#answered.get(id)]) {
      if (token && token.serial > refused && isUsable(token, key, now)) return token;
    }
    const reply = await this.#remote(id).accessToken(id);
    if ('failure' in reply) throw new PorticoError('credential_unavailable', reply.failure);
    this.#answered.set(id, reply.token);
    return reply.token;
  }

  /** The server refused a token: stops using it here, and notifies the monitor, which fetches another one. */
  async refuse({ id }: CredentialOwner, serial: number): Promise<void> {
    this.#refused.set(id, Math.max(serial, this.#refused.get(id) ?? 0));
    await this.#remote(id).refuseAccessToken(id, serial);
  }
}
