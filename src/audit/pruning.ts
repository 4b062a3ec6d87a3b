/**
 * Retention: deletes rows that are older than the deployment keeps them, from the beginning of a chain; checks of the
 * chain then begin after them. Each deletion is an act with its own row. The object records how far it went before the
 * database is changed, so that a deletion that nobody decided is detected.
 */
import type { Actor } from '../shared/identity/principal.ts';
import { ADMIN_SHARD, ALWAYS, OVERFLOW_SHARDS, type AdminAudit } from './admin-audit.ts';
import { callShard } from './calls/call-schema.ts';
import { deleteUpTo, listOldest, notePruned } from './audit-store.ts';
import type { KeptChains } from './kept-chain-store.ts';

/** The actor of prunings, as their rows name it. */
export const RETENTION: Actor = {
  principalId: 'portico-retention',
  tokenId: 'portico-retention',
  scopes: new Set(['admin']),
};
/** Rows in one deletion, and most deletions in one run. */
const BATCH = 1_000;
const MAX_BATCHES = 20;

export interface PruningParts {
  db: D1Database;
  adminAudit: AdminAudit;
  chains: KeptChains;
}

/** Returns the shards that an object prunes: that of its principal, or those of the acts. */
export function shardsOf(principalId: string | undefined): string[] {
  if (principalId !== undefined) return [callShard(principalId)];
  const overflow = Array.from({ length: OVERFLOW_SHARDS }, (_, i) => `${ADMIN_SHARD}-${i + 1}`);
  return [ADMIN_SHARD, ...overflow];
}

/**
 * Deletes the rows of a shard that are older than a time.
 * @returns whether there may be more
 */
export async function prune(parts: PruningParts, shard: string, before: number): Promise<boolean> {
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const oldest = await listOldest(parts.db, shard, BATCH);
    const firstKept = oldest.findIndex(({ at }) => at >= before);
    const old = firstKept === -1 ? oldest : oldest.slice(0, firstKept);
    const last = old.at(-1);
    if (!last) return false;
    const { seq, hash } = last;
    parts.chains.set(`pruned:${shard}`, { seq, hash });
    const { db, adminAudit } = parts;
    const act = { action: 'audit.prune', subject: shard };
    const statements = [notePruned(db, shard, last), deleteUpTo(db, shard, seq)];
    const detail = { rows: old.length, up_to: seq, hash, before: new Date(before).toISOString() };
    await adminAudit.perform(RETENTION, 'admin', act, commit =>
      commit({ when: ALWAYS, statements, detail }),
    );
    if (old.length < BATCH) return false;
  }
  return true;
}
