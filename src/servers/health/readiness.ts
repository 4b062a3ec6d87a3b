/**
 * Whether this isolate can serve: its storage answers, the database has every migration that the code knows, and the key ring opens
 * what the database keeps. A database that is newer than the code is ready, since schema and code work one version apart.
 */
import { opensKept } from '../../credentials/kept-probe.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { Probe } from '../../shared/util/probe.ts';
import { MIGRATION_NAMES } from './migration-names.ts';
import { listMigrations } from './server-health-store.ts';

export type Readiness = 'ok' | 'storage_unavailable' | 'migrations_pending' | 'keys_unfit';

export interface ReadinessPorts {
  db: D1Database;
  keys: KeyRing;
}

/** What finds the first migration that the code knows and the database lacks; undefined where it lacks none, or cannot be read. */
export const createMissingMigration = (db: D1Database): Probe<string | undefined> =>
  new Probe<string | undefined>(() => findMissing(db), undefined);

async function findMissing(db: D1Database): Promise<string | undefined> {
  const applied = new Set(await listMigrations(db));
  return MIGRATION_NAMES.find(name => !applied.has(name));
}

/** What finds out whether this isolate can serve. */
export function createReadiness({ db, keys }: ReadinessPorts): Probe<Readiness> {
  // The ring of an isolate never changes: what it opened once it opens.
  let doKeysFit = false;
  return new Probe<Readiness>(async () => {
    if ((await findMissing(db)) !== undefined) return 'migrations_pending';
    doKeysFit ||= await opensKept(db, keys);
    return doKeysFit ? 'ok' : 'keys_unfit';
  }, 'storage_unavailable');
}
