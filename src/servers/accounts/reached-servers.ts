/** Servers for Durable Objects, which get no record passed in: with the account of the object's owner, or as a monitor reaches a server. */
import type { HeldAccount } from '../../shared/identity/account.ts';
import { whoseObject } from '../../shared/identity/object-owners.ts';
import { withAccount } from '../registry/own-account.ts';
import type { Server } from '../registry/server-schema.ts';
import { findServer } from '../registry/server-store.ts';
import { findAccountOf, findFirstAccount } from './account-store.ts';

/** Finds a server as the client to which this object belongs reaches it. @param owner name of the object */
export async function findServerOf(
  db: D1Database,
  serverId: string,
  owner: string,
): Promise<Server | undefined> {
  const server = await findServer(db, serverId);
  if (!server || server.accounts === 'shared') return server;
  return withAccount(server, await findAccountOf(db, serverId, whoseObject(owner)));
}

/**
 * A server as its monitor reaches it: with the deployment's credential, else with the account that was connected first. The catalog is for
 * everybody who may use the server. An account that the server refused is passed over for the others.
 */
export class MonitoredServers {
  readonly #db: D1Database;
  readonly #refused = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();
  /** The reads that have not begun, by server. */
  readonly #next = new Map<string, Promise<Server | undefined>>();

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** Finds a server. Calls that come during a read share the next one: a client may subscribe to a thousand resources at once. */
  find(serverId: string): Promise<Server | undefined> {
    const known = this.#next.get(serverId);
    if (known) return known;
    const read = this.#last.then(() => {
      this.#next.delete(serverId);
      return this.#read(serverId);
    });
    this.#next.set(serverId, read);
    this.#last = read.catch(() => {});
    return read;
  }

  async #read(serverId: string): Promise<Server | undefined> {
    const server = await findServer(this.#db, serverId);
    if (!server || server.accounts === 'shared') return server;
    const { headersSealed, view } = server.credential;
    // A client for people to sign in with is not a credential of the deployment.
    const isGiven = view.auth !== null && view.auth.type !== 'authorization_code';
    if (headersSealed !== null || isGiven) return server;
    const first = await this.#firstOf(serverId);
    return first ? withAccount(server, first) : server;
  }

  /** Notes that the server refused this record's account. */
  refuse({ account }: Server): void {
    if (account) this.#refused.add(account.id);
  }

  /** Once all accounts were refused, starts again with the first. */
  async #firstOf(serverId: string): Promise<HeldAccount | undefined> {
    const first = await findFirstAccount(this.#db, serverId, [...this.#refused]);
    if (first || this.#refused.size === 0) return first;
    this.#refused.clear();
    return findFirstAccount(this.#db, serverId, []);
  }
}
