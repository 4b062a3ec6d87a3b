/**
 * Principals: what their bodies mean, and their groups. A principal's scopes bound those of all its tokens. Deleting a principal deletes
 * its tokens in the same write.
 */
import { ALWAYS } from '../../audit/admin-audit.ts';
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import { patched } from '../../records/record-schema.ts';
import { allOf, whereNamed } from '../../records/record-store.ts';
import { createEditedRecords, type EditedRecords } from '../../records/records.ts';
import { requireScope, type Actor } from '../../shared/identity/principal.ts';
import type { ListPage } from '../../shared/util/page.ts';
import type {
  CreatePrincipal,
  Group,
  Principal,
  PrincipalQuery,
  UpdatePrincipal,
} from './principal-schema.ts';
import { listGroups, PRINCIPALS, whenInGroup } from './principal-store.ts';

export interface Principals extends EditedRecords<
  Principal,
  CreatePrincipal,
  PrincipalQuery,
  UpdatePrincipal
> {
  /** Returns one page of the groups, sorted by name. @throws PorticoError `forbidden` */
  listGroups(caller: Actor, limit: number, afterName?: string): Promise<ListPage<Group>>;
}

const unique = <T extends string>(items: readonly T[]): T[] => [...new Set(items)].toSorted();

const withUnique = <T extends Pick<Principal, 'groups' | 'scopes'>>(principal: T): T => ({
  ...principal,
  groups: unique(principal.groups),
  scopes: principal.scopes && unique(principal.scopes),
});

export function createPrincipals({ db, adminAudit, onAccessChanged }: AccessPorts): Principals {
  return {
    ...createEditedRecords(
      { db, adminAudit },
      {
        table: PRINCIPALS,
        noun: 'principal',
        missing: 'No such principal',
        /** A new principal has no tokens yet. After an edit, its tokens follow the change within a second. */
        onChanged: verb => (verb === 'create' ? undefined : onAccessChanged()),
        make: (body: CreatePrincipal, _servers, stamp) =>
          withUnique({ ...stamp, ...body, updated_at: null, token_count: 0, claimed_groups: [] }),
        edit: (before, patch: UpdatePrincipal) => withUnique(patched(before, patch)),
        filter: ({ name, group }: PrincipalQuery) =>
          allOf(whereNamed(name), group === undefined ? ALWAYS : whenInGroup(group)),
        toDetail: ({ name, groups, scopes }) => ({ name, groups, scopes }),
        toDeletionDetail: ({ name, token_count: tokens }) => ({ name, tokens }),
      },
    ),

    async listGroups(caller, limit, afterName) {
      requireScope(caller, 'admin');
      return listGroups(db, limit, afterName);
    },
  };
}
