/** Ownership of records: which of them a configuration file owns. Each write marks its own record (`admin-audit.ts`). */
import { listOwned, markOwner, whenThere, type Owned } from '../audit/owner-store.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { type Actor, requireScope } from '../shared/identity/principal.ts';
import type { OwnedKind, RecordOwner } from '../shared/identity/record-owner.ts';
import { toListPage, type ListPage } from '../shared/util/page.ts';
import type { RecordPorts } from './records.ts';

export interface Owners {
  /** Returns one page of the owned records, by kind and id. @throws PorticoError `forbidden` */
  list(
    caller: Actor,
    limit: number,
    after?: readonly [kind: string, id: string],
  ): Promise<ListPage<Owned>>;
  /** Gives a record to an owner, unchanged. @throws PorticoError `forbidden`, `not_found` */
  take(caller: Actor, owned: RecordOwner & { kind: OwnedKind; id: string }): Promise<void>;
}

export function createOwners({ db, adminAudit }: RecordPorts): Owners {
  return {
    async list(caller, limit, after) {
      requireScope(caller, 'admin');
      const owned = await listOwned(db, limit + 1, after);
      return toListPage(owned, limit, ({ kind, record_id: id }) => [kind, id]);
    },

    take(caller, { kind, id, ...owner }) {
      const act = { action: `${kind}.take`, subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const when = whenThere(kind, id);
        const statements = [markOwner(db, kind, id, owner, when)];
        if (await commit({ when, statements, detail: { ...owner } })) return;
        throw new PorticoError('not_found', 'No such record');
      });
    },
  };
}
