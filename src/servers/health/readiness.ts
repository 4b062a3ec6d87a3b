/**
 * Whether this isolate can serve: its storage responds, the database has every migration that the code knows, and the key ring opens the
 * sealed values in the database. A database that is newer than the code is ready, since schema and code work one version apart.
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

/**
 * Creates a probe for the first migration that the code knows and the database lacks; undefined if none is missing, or if the database
 * cannot be read.
 */
export const createMissingMigration = (db: D1Database): Probe<string | undefined> =>
  new Probe<string | undefined>(() => findMissing(db), undefined);

async function findMissing(db: D1Database): Promise<string | undefined> {
  const applied = new Set(await listMigrations(db));
  return MIGRATION_NAMES.find(name => !applied.has(name));
}

/** Creates a probe for whether this isolate can serve. */
export function createReadiness({ db, keys }: ReadinessPorts): Probe<Readiness> {
  // An isolate's key ring never changes, so one success is enough.
  let doKeysFit = false;
  return new Probe<Readiness>(async () => {
    if ((await findMissing(db)) !== undefined) return 'migrations_pending';
    doKeysFit ||= await opensKept(db, keys);
    return doKeysFit ? 'ok' : 'keys_unfit';
  }, 'storage_unavailable');
}
