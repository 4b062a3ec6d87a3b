/**
 * A server record as one caller reaches it: with the caller's own account where the server is configured for accounts. Every lower room
 * works with the record that it is given, so whose credential a call carries is decided here and nowhere else. Pure. The same arguments
 * return the same object, so others can key their caches by it.
 */
import { NO_CREDENTIAL } from '../../credentials/credential-schema.ts';
import type { HeldAccount } from '../../shared/identity/account.ts';
import type { Server } from './server-schema.ts';

const withOne = new WeakMap<Server, WeakMap<HeldAccount, Server>>();
const withNone = new WeakMap<Server, Server>();
const lists = new WeakMap<readonly Server[], WeakMap<readonly HeldAccount[], readonly Server[]>>();

/** The record with an account in place of the deployment's credential. @param account undefined: the caller has none */
export function withAccount(server: Server, account: HeldAccount | undefined): Server {
  if (server.accounts === 'shared') return server;
  if (account) {
    const known = remembered(withOne, server, () => new WeakMap<HeldAccount, Server>());
    return remembered(known, account, () => ofAccount(server, account));
  }
  if (server.accounts === 'both') return server;
  return remembered(withNone, server, () => ({
    ...server,
    needsAccount: true,
    credential: NO_CREDENTIAL,
  }));
}

function ofAccount(server: Server, account: HeldAccount): Server {
  const { sealed, revision, ended } = account;
  return ended === null
    ? { ...server, account, credential: { ...NO_CREDENTIAL, authSealed: sealed, revision } }
    : { ...server, account, needsAccount: true, credential: NO_CREDENTIAL };
}

/** All servers as one caller reaches them. @param servers at least one of them uses accounts */
export function withAccounts(
  servers: readonly Server[],
  accounts: readonly HeldAccount[],
): readonly Server[] {
  const known = remembered(
    lists,
    servers,
    () => new WeakMap<readonly HeldAccount[], readonly Server[]>(),
  );
  return remembered(known, accounts, () => {
    const own = new Map(accounts.map(account => [account.serverId, account]));
    return servers.map(server => withAccount(server, own.get(server.id)));
  });
}

/** The record without any caller's account, for data that depends on the server and its tools alone. */
export function ofNobody({ account: _its, needsAccount: _lack, ...server }: Server): Server {
  return { ...server, accounts: 'shared' };
}

/** Whether the caller reaches a server through its own account, or would need one to. */
export const isOfAccounts = ({ account, needsAccount }: Server): boolean =>
  account !== undefined || needsAccount === true;

function remembered<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
