/**
 * A server as one caller reaches it: with the caller's own account where the server is set up so. Every room below works with the record
 * it is given, so that whose credential a call carries is decided here and nowhere else. Pure; the same arguments give the same record,
 * by which others remember what they made of it.
 */
import { NO_CREDENTIAL } from '../../credentials/credential-schema.ts';
import type { HeldAccount } from '../../shared/identity/account.ts';
import type { Server } from './server-schema.ts';

const withOne = new WeakMap<Server, WeakMap<HeldAccount, Server>>();
const withNone = new WeakMap<Server, Server>();
const lists = new WeakMap<readonly Server[], WeakMap<readonly HeldAccount[], readonly Server[]>>();

/** The record with an account in the place of the deployment's credential. @param account undefined: the caller has none */
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

/** All servers as one caller reaches them. @param servers of which one at least has accounts */
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

/** The record as of no caller, for what is asked of servers and their tools alone. */
export function ofNobody({ account: _its, needsAccount: _lack, ...server }: Server): Server {
  return { ...server, accounts: 'shared' };
}

/** Whether the caller reaches a server by an account of its own, or would have to. */
export const isOfAccounts = ({ account, needsAccount }: Server): boolean =>
  account !== undefined || needsAccount === true;

function remembered<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
