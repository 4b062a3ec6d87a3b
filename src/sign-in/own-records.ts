/**
 * People's own sign-ins and passkeys: callers who are not administrators see and end only those that came from the credential they use, so
 * that whoever finds a weak token learns nothing of a strong one. All others look as if they did not exist.
 */
import { OWN_SCOPES } from '../access/tokens/own-tokens.ts';
import type { Condition } from '../audit/audit-store.ts';
import { allOf, listRecords, whereEqual, type ReadTable } from '../records/record-store.ts';
import {
  createReadRecords,
  type ReadKind,
  type ReadRecords,
  type RecordPorts,
} from '../records/records.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { hasLimits, hasScope, requireScope, type Actor } from '../shared/identity/principal.ts';
import type { OfPrincipal } from './invitation-schema.ts';
import { whereOwn } from './sign-in-store.ts';

type Query = OfPrincipal & { within?: Condition };
type Kind<T extends { id: string }> = Omit<ReadKind<T, Query>, 'filter' | 'scopes'> & {
  table: ReadTable<T>;
};

/** All records for administrators; their own for other callers whose token has no limits. */
export function createOwnRecords<T extends { id: string }>(
  ports: RecordPorts,
  kind: Kind<T>,
): ReadRecords<T, OfPrincipal> {
  const filter = ({ principal, within }: Query) =>
    allOf(whereEqual({ principal_id: principal }), ...(within ? [within] : []));
  const all = createReadRecords<T, Query>(ports, { ...kind, filter });
  const own = createReadRecords<T, Query>(ports, { ...kind, filter, scopes: OWN_SCOPES });
  const hasAll = (caller: Actor) => hasScope(caller, 'admin') || hasLimits(caller);

  async function find(caller: Actor, id: string): Promise<T | undefined> {
    const which = allOf({ sql: 'id = ?', params: [id] }, whereOwn(caller));
    return (await listRecords(ports.db, kind.table, which, 1)).items[0];
  }

  return {
    list: async (caller, query, ...more) =>
      hasAll(caller)
        ? all.list(caller, query, ...more)
        : own.list(caller, { ...query, within: whereOwn(caller) }, ...more),

    async get(caller, id) {
      if (hasAll(caller)) return all.get(caller, id);
      requireScope(caller, OWN_SCOPES.read);
      const record = await find(caller, id);
      if (!record) throw new PorticoError('not_found', kind.missing);
      return record;
    },

    async delete(caller, id) {
      if (hasAll(caller)) return all.delete(caller, id);
      const isOwn = hasScope(caller, OWN_SCOPES.write) && (await find(caller, id)) !== undefined;
      // The record is refused like a missing one, and the audit records the attempt.
      return own.delete(caller, isOwn ? id : '');
    },
  };
}
