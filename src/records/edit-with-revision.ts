/** What the services of access share: their ports, and how a record is edited over the revision the edit was made of. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';

export interface AccessPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** Who may use what was changed just now: what is remembered of it here is too old. */
  onAccessChanged(): Promise<void>;
}

/** An edit on top of another edit is tried again this often. */
const MAX_TRIES = 5;

/**
 * Edit a record; where another edit came in between, on top of that one.
 * @param find throws `not_found`
 * @param ifRevision refuse where the record is at another revision
 * @param attempt writes the edit over the revision of the record it gets, or says that it was changed meanwhile
 * @throws PorticoError `precondition_failed`, `busy`, and what `find` and `attempt` throw
 */
export async function editRecord<T extends { revision: number }>(
  find: () => Promise<T>,
  ifRevision: number | undefined,
  attempt: (before: T) => Promise<boolean>,
): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await find();
    if (ifRevision !== undefined && before.revision !== ifRevision) {
      throw new PorticoError('precondition_failed', `It is at revision ${before.revision} now`);
    }
    if (await attempt(before)) return find();
  }
  throw new PorticoError('busy', 'Too many edits at once; try again');
}
