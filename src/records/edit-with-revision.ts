/** Shared by the services of access: their ports, and edits that are written only over the revision that they were made from. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';

export interface AccessPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** Access was changed just now: what this isolate remembers of it is stale. */
  onAccessChanged(): Promise<void>;
}

/** How often an edit is tried while other edits come in between. */
const MAX_TRIES = 8;
/** Longest pause after the first try, in milliseconds; twice as long after each further one. By chance, so that edits do not meet again. */
const PAUSE_MS = 20;

const pauseAfter = (tries: number): Promise<void> =>
  new Promise(resolve => setTimeout(resolve, Math.random() * PAUSE_MS * 2 ** (tries - 1)));

/**
 * Edits a record; if another edit came in between, on top of that one.
 * @param find throws `not_found`
 * @param ifRevision refuses the edit if the record is at another revision
 * @param attempt writes the edit over the given revision of the record; false if the record was changed meanwhile
 * @throws PorticoError `precondition_failed`, `busy`, and what `find` and `attempt` throw
 */
export async function editRecord<T extends { revision: number }>(
  find: () => Promise<T>,
  ifRevision: number | undefined,
  attempt: (before: T) => Promise<boolean>,
): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (tries > 0) await pauseAfter(tries);
    const before = await find();
    if (ifRevision !== undefined && before.revision !== ifRevision) {
      throw new PorticoError('precondition_failed', `It is at revision ${before.revision} now`);
    }
    if (await attempt(before)) return find();
  }
  throw new PorticoError('busy', 'Too many edits at once; try again');
}
