/**
 * Whether this isolate can serve: its storage answers, the database has every migration that the code knows, and the key ring opens
 * what the database keeps. A database that is newer than the code is ready, since schema and code work one version apart.
 */
import { opensKept } from '../../credentials/kept-probe.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { Probe } from '../../shared/util/probe.ts';
import { MIGRATION_COUNT } from './migration-count.ts';
import { countMigrations } from './server-health-store.ts';

export type Readiness = 'ok' | 'storage_unavailable' | 'migrations_pending' | 'keys_unfit';

export interface ReadinessPorts {
  db: D1Database;
  keys: KeyRing;
}

/** What finds out whether this isolate can serve. */
export function createReadiness({ db, keys }: ReadinessPorts): Probe<Readiness> {
  // The ring of an isolate never changes: what it opened once it opens.
  let doKeysFit = false;
  return new Probe<Readiness>(async () => {
    if ((await countMigrations(db)) < MIGRATION_COUNT) return 'migrations_pending';
    doKeysFit ||= await opensKept(db, keys);
    return doKeysFit ? 'ok' : 'keys_unfit';
  }, 'storage_unavailable');
}
