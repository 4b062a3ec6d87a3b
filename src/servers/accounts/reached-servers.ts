/** Servers as objects find them, which are handed no record: with the account of whoever the object is of, or as a monitor looks at one. */
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
 * holds is for everybody who may use the server.
 */
export async function findMonitoredServer(
  db: D1Database,
  serverId: string,
): Promise<Server | undefined> {
  const server = await findServer(db, serverId);
  if (!server || server.accounts === 'shared') return server;
  const { headersSealed, view } = server.credential;
  // A client by which people sign in is no credential of the deployment's.
  const isGiven = view.auth !== null && view.auth.type !== 'authorization_code';
  if (headersSealed !== null || isGiven) return server;
  const first = await findFirstAccount(db, serverId);
  return first ? withAccount(server, first) : server;
}
