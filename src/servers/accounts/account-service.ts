/**
 * Accounts: people connect their own account at a server, list their accounts and delete them; administrators list and delete those of
 * everyone.
 */
import { ALWAYS, type AdminAudit } from '../../audit/admin-audit.ts';
import { allOf, findRecord, whereEqual } from '../../records/record-store.ts';
import { createReadRecords, type ReadRecords } from '../../records/records.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { administersAll, type Actor } from '../../shared/identity/principal.ts';
import { deleteGrant } from './grant-store.ts';
import { sealToken } from './sealed-tokens.ts';
import { findNamed } from '../server-names.ts';
import type { Server } from '../registry/server-schema.ts';
import type { RemoteAccountLists } from './remote-account-lists.ts';
import type { Account, AccountQuery } from './account-schema.ts';
import {
  ACCOUNTS,
  findAccountId,
  whenConnectable,
  whenWritten,
  whereAmong,
  writeAccount,
} from './account-store.ts';

export interface AccountPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  /** Called after a principal connected, replaced or deleted its account at this server. */
  onConnected(serverId: string, principalId: string): Promise<void>;
  /** Revokes the account's tokens at its issuer; best effort. */
  revoke(account: Account): Promise<void>;
}

/**
 * Each verb takes the servers that the caller may use: accounts at other servers are not shown, not even the caller's own. Whoever
 * administers the deployment sees all.
 */
export interface Accounts extends Pick<ReadRecords<Account, AccountQuery>, 'list'> {
  /** @throws PorticoError `forbidden`, `not_found` */
  get(caller: Actor, id: string, visible: readonly Server[]): Promise<Account>;
  /** @throws PorticoError `forbidden`, `not_found` */
  delete(caller: Actor, id: string, visible: readonly Server[]): Promise<void>;
  /**
   * Connects the caller's own account at a server, or replaces its token.
   * @param visible the servers that the caller may use
   * @throws PorticoError `forbidden`, `validation_failed`, `busy`
   */
  connect(
    caller: Actor,
    given: { server: string; token: string },
    visible: readonly Server[],
  ): Promise<Account>;
}

/** Filter for the list, and the servers that it is restricted to, if any. */
type AccountFilter = AccountQuery & { within?: readonly { id: string }[] };

const SCOPES = { read: 'tools:call', write: 'tools:call' } as const;

/**
 * Follow-up of a changed account. Access changed; the monitor may read the catalog with the first account; and each account has lists of
 * its own.
 */
export const createOnConnected =
  ({
    onAccessChanged,
    monitors,
    accountLists,
  }: {
    onAccessChanged(): Promise<void>;
    monitors: { follow(serverId: string): Promise<unknown> };
    accountLists: Pick<RemoteAccountLists, 'read'>;
  }) =>
  async (serverId: string, principalId: string): Promise<void> => {
    await onAccessChanged();
    await monitors.follow(serverId).catch(() => {});
    await accountLists.read(principalId, serverId);
  };

export function createAccounts(ports: AccountPorts): Accounts {
  const { db, keys, adminAudit, revoke, onConnected } = ports;
  const kind = {
    table: ACCOUNTS,
    noun: 'account',
    missing: 'No such account',
    scopes: SCOPES,
    filter: ({ server, principal, within }: AccountFilter) =>
      allOf(
        whereEqual({ server_id: server, principal_id: principal }),
        within ? whereAmong('server_id', within) : ALWAYS,
      ),
    toDeletionDetail: ({ server_id: server, principal_id: principal }: Account) => ({
      server,
      principal,
    }),
    onDeleting: revoke,
    onChanged: (_verb: unknown, { server_id, principal_id }: Account) =>
      onConnected(server_id, principal_id),
  };
  const records = createReadRecords<Account, AccountFilter>(ports, kind);
  const mayTouch = (caller: Actor, account: Account, visible: readonly Server[]) =>
    administersAll(caller) ||
    (account.principal_id === caller.principalId &&
      visible.some(({ id }) => id === account.server_id));

  return {
    list: (caller, query, visible, ...more) =>
      records.list(
        caller,
        administersAll(caller)
          ? query
          : { ...query, principal: caller.principalId, within: visible },
        visible,
        ...more,
      ),

    async get(caller, id, visible) {
      const account = await records.get(caller, id);
      if (!mayTouch(caller, account, visible)) throw new PorticoError('not_found', kind.missing);
      return account;
    },

    async delete(caller, id, visible) {
      const account = await findRecord(db, ACCOUNTS, id);
      if (!account || mayTouch(caller, account, visible)) return records.delete(caller, id);
      // Refused like an account that does not exist, in the audit too.
      const act = { action: 'account.delete', subject: id };
      return adminAudit.perform(caller, SCOPES.write, act, () =>
        Promise.reject(new PorticoError('not_found', kind.missing)),
      );
    },

    connect(caller, { server: key, token }, visible) {
      const act = { action: 'account.connect', subject: key };
      return adminAudit.perform(caller, SCOPES.write, act, async commit => {
        const server = findNamed(key, visible);
        if (!server) throw new PorticoError('not_found', 'No such server');
        act.subject = server.id;
        if (server.accounts === 'shared' || server.transportType === 'STDIO') {
          throw fieldProblem('server', 'the server does not accept personal accounts');
        }
        const { principalId } = caller;
        const known = await findAccountId(db, principalId, server.id);
        const id = known ?? crypto.randomUUID();
        const { url } = server;
        const owner = { id: server.id, url, account: { id, principalId } };
        const sealed = await sealToken(keys, owner, token);
        const written = { id, principalId, serverId: server.id, url, sealed, now: Date.now() };
        const isKnown = known !== undefined;
        const when = whenConnectable(written, isKnown);
        const isDone = await commit({
          when,
          statements: [
            writeAccount(db, written, isKnown, when),
            deleteGrant(db, id, whenWritten(written)),
          ],
          detail: { server: server.id, account: id },
        });
        const account = isDone ? await findRecord(db, ACCOUNTS, id) : undefined;
        if (!account) throw new PorticoError('busy', 'It was changed meanwhile; try again');
        await onConnected(server.id, principalId);
        return account;
      });
    },
  };
}
