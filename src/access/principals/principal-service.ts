/**
 * Principals: create, read, edit, delete, and the groups they are in. Each verb that writes is one act with its audit row. A
 * principal's scopes bound those of all its tokens; its end is the end of its tokens, in one write.
 */
import type { Caller } from '../policy/caller.ts';
import { ALWAYS } from '../../audit/admin-audit.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ListPage } from '../../shared/util/page.ts';
import { editRecord, type AccessPorts } from '../../records/edit-with-revision.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { CreatePrincipal, Group, Principal, UpdatePrincipal } from './principal-schema.ts';
import {
  deletePrincipal,
  findPrincipal,
  insertPrincipal,
  listGroups,
  listPrincipals,
  updatePrincipal,
  whenPrincipal,
  whenPrincipalUnchanged,
  type PrincipalFilter,
  type PrincipalPosition,
} from './principal-store.ts';

const unique = <T extends string>(items: readonly T[]): T[] => [...new Set(items)].toSorted();

export class PrincipalService {
  readonly #ports: AccessPorts;

  constructor(ports: AccessPorts) {
    this.#ports = ports;
  }

  /** @throws PorticoError `forbidden` */
  create(caller: Caller, { name, groups, scopes }: CreatePrincipal): Promise<Principal> {
    const { db, adminAudit } = this.#ports;
    const id = crypto.randomUUID();
    const act = { action: 'principal.create', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const principal: Principal = {
        id,
        name,
        groups: unique(groups),
        scopes: scopes && unique(scopes),
        revision: 1,
        createdAt: Date.now(),
        updatedAt: null,
        tokenCount: 0,
      };
      await commit({
        when: ALWAYS,
        statements: [insertPrincipal(db, principal)],
        detail: { name, groups: principal.groups, scopes: principal.scopes },
      });
      return principal;
    });
  }

  /** One page of the principals, newest first, and how many match. */
  async list(
    caller: Caller,
    filter: PrincipalFilter,
    limit: number,
    after?: PrincipalPosition,
  ): Promise<ListPage<Principal> & { total: number }> {
    requireScope(caller, 'admin');
    return listPrincipals(this.#ports.db, filter, limit, after);
  }

  /** One page of the groups, in the order of their names. */
  async listGroups(caller: Caller, limit: number, afterName?: string): Promise<ListPage<Group>> {
    requireScope(caller, 'admin');
    return listGroups(this.#ports.db, limit, afterName);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Caller, id: string): Promise<Principal> {
    requireScope(caller, 'admin');
    return this.#find(id);
  }

  /**
   * Edit a principal; its tokens obey within a second.
   * @param ifRevision refuse where it is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `precondition_failed`
   */
  update(
    caller: Caller,
    id: string,
    patch: UpdatePrincipal,
    ifRevision?: number,
  ): Promise<Principal> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    const act = { action: 'principal.update', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const find = () => this.#find(id);
      const after = await editRecord(find, ifRevision, async before => {
        const principal: Principal = {
          ...before,
          name: patch.name ?? before.name,
          groups: patch.groups ? unique(patch.groups) : before.groups,
          scopes: patch.scopes === undefined ? before.scopes : patch.scopes && unique(patch.scopes),
          updatedAt: Date.now(),
        };
        const { name, groups, scopes } = principal;
        return commit({
          when: whenPrincipalUnchanged(before),
          statements: [updatePrincipal(db, principal)],
          detail: { name, groups, scopes },
        });
      });
      await onAccessChanged();
      return after;
    });
  }

  /**
   * Delete a principal, and with it its tokens and its rules.
   * @throws PorticoError `forbidden`, `not_found`
   */
  delete(caller: Caller, id: string): Promise<void> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    const act = { action: 'principal.delete', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const { name, tokenCount } = await this.#find(id);
      const isDone = await commit({
        when: whenPrincipal(id),
        statements: deletePrincipal(db, id),
        detail: { name, tokens: tokenCount },
      });
      if (!isDone) throw new PorticoError('not_found', 'No such principal');
      await onAccessChanged();
    });
  }

  async #find(id: string): Promise<Principal> {
    const principal = await findPrincipal(this.#ports.db, id);
    if (!principal) throw new PorticoError('not_found', 'No such principal');
    return principal;
  }
}
