/** Servers as objects find them, which are handed no record: with the account of whoever the object is of, or as a monitor looks at one. */
import type { HeldAccount } from '../../shared/identity/account.ts';
import { whoseObject } from '../../shared/identity/object-owners.ts';
import { withAccount } from '../registry/own-account.ts';
import type { Server } from '../registry/server-schema.ts';
import { findServer } from '../registry/server-store.ts';
import { findAccountOf, findFirstAccount } from './account-store.ts';

/** A server as the client reaches it whose object this is. @param owner name of the object */
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
 * A server as its monitor reaches it: with what the deployment has for it, else with the account that was connected first. What a catalog
 * holds is for everybody who may use the server. An account that the server refused is passed over for the others.
 */
export class MonitoredServers {
  readonly #db: D1Database;
  readonly #refused = new Set<string>();

  constructor(db: D1Database) {
    this.#db = db;
  }

  async find(serverId: string): Promise<Server | undefined> {
    const server = await findServer(this.#db, serverId);
    if (!server || server.accounts === 'shared') return server;
    const { headersSealed, view } = server.credential;
    // A client by which people sign in is no credential of the deployment's.
    const isGiven = view.auth !== null && view.auth.type !== 'authorization_code';
    if (headersSealed !== null || isGiven) return server;
    const first = await this.#firstOf(serverId);
    return first ? withAccount(server, first) : server;
  }

  /** The server refused a record. */
  refuse({ account }: Server): void {
    if (account) this.#refused.add(account.id);
  }

  /** Where all were refused they are tried anew. */
  async #firstOf(serverId: string): Promise<HeldAccount | undefined> {
    const first = await findFirstAccount(this.#db, serverId, [...this.#refused]);
    if (first || this.#refused.size === 0) return first;
    this.#refused.clear();
    return findFirstAccount(this.#db, serverId, []);
  }
}
