/** Has the due lists of accounts read, each by the object of its principal at its server. No caller waits for it. */
import { principalOwner } from '../../shared/identity/object-owners.ts';
import { Lru } from '../../shared/util/lru.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { Server } from '../registry/server-schema.ts';
import { areListsDue } from './account-lists.ts';

/** The object of a principal at a server. */
export interface AccountListRemote {
  /** Reads the lists of the account, if they are due; returns before that is done. */
  readOwnLists(serverId: string): Promise<void>;
}

/** Minimum time between two requests of one isolate for one account, in milliseconds. */
const REQUEST_GAP_MS = 10_000;
const MAX_REMEMBERED = 1_000;

export class RemoteAccountLists {
  readonly #remote: (owner: string) => AccountListRemote;
  readonly #waitUntil: WaitUntil;
  readonly #requestedAt = new Lru<string, number>(MAX_REMEMBERED);
  readonly #withAccounts = new WeakMap<readonly Server[], readonly Server[]>();

  /**
   * @param remote returns a client's object by its name
   * @param waitUntil of whichever request runs: a request to an object that nothing keeps is lost with the response
   */
  constructor(remote: (owner: string) => AccountListRemote, waitUntil: WaitUntil) {
    this.#remote = remote;
    this.#waitUntil = waitUntil;
  }

  /** Call when a caller lists what these servers offer. @param servers as the caller reaches them */
  listed(servers: readonly Server[]): void {
    let own = this.#withAccounts.get(servers);
    if (!own) {
      own = servers.filter(({ account }) => account !== undefined);
      this.#withAccounts.set(servers, own);
    }
    if (own.length === 0) return;
    const now = Date.now();
    for (const server of own) {
      if (!areListsDue(server, now)) continue;
      const { account } = server;
      const key = `${account.id} ${account.revision} ${server.catalogHash}`;
      if (now - (this.#requestedAt.get(key) ?? 0) < REQUEST_GAP_MS) continue;
      this.#requestedAt.set(key, now);
      this.#waitUntil(this.read(account.principalId, server.id));
    }
  }

  /** Requests a read; errors are ignored. */
  async read(principalId: string, serverId: string): Promise<void> {
    await this.#remote(principalOwner(principalId, serverId))
      .readOwnLists(serverId)
      .catch(() => {});
  }
}
