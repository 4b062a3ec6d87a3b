/** The table `call_seals`: the seals of the chain of chunks. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { GENESIS, type ChainHead } from '../audit-schema.ts';

/** A seal: the number of chunks under it and all earlier seals, and the hash over all of them. */
export interface Seal extends ChainHead {
  /** The last chunk under it; empty if there is none. */
  chunkId: string;
}

/** The state before the first seal. */
export const NO_SEAL: Seal = { ...GENESIS, chunkId: '' };

export const SealSchema = z
  .object({ seq: z.number(), chunk_id: z.string(), hash: z.string() })
  .transform(({ chunk_id: chunkId, ...rest }): Seal => ({ chunkId, ...rest }));

/** Writes a seal, unless it exists. */
export const insertSeal = (db: D1Database, { seq, chunkId, hash }: Seal): D1PreparedStatement =>
  db
    .prepare('INSERT INTO call_seals (seq, chunk_id, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
    .bind(seq, chunkId, hash);

/** Returns the seals after a number, in their order. */
export async function listSeals(db: D1Database, afterSeq: number, limit: number): Promise<Seal[]> {
  const { results } = await db
    .prepare('SELECT * FROM call_seals WHERE seq > ? ORDER BY seq LIMIT ?')
    .bind(afterSeq, limit)
    .all();
  return results.map(row => SealSchema.parse(row));
}

/** Returns the last seal up to a number; undefined if there is none. */
export async function findSealUpTo(db: D1Database, seq: number): Promise<Seal | undefined> {
  const row = await db
    .prepare('SELECT * FROM call_seals WHERE seq <= ? ORDER BY seq DESC LIMIT 1')
    .bind(seq)
    .first();
  return row === null ? undefined : SealSchema.parse(row);
}

/** Deletes the chunks up to a seal, and the seals before it. */
export const deleteChunks = (db: D1Database, { seq, chunkId }: Seal): D1PreparedStatement[] => [
  db.prepare('DELETE FROM call_chunks WHERE id <= ?').bind(chunkId),
  db.prepare('DELETE FROM call_seals WHERE seq < ?').bind(seq),
];

/** Records the last seal of a shard whose chunks are deleted because of their age. */
export const notePrunedSeal = (
  db: D1Database,
  shard: string,
  { seq, hash }: Seal,
): D1PreparedStatement[] => [
  db
    .prepare(
      `INSERT INTO audit_heads (shard, seq, hash, pruned_seq, pruned_hash) VALUES (?1, ?2, ?3, ?2, ?3)
       ON CONFLICT (shard) DO UPDATE SET pruned_seq = excluded.pruned_seq, pruned_hash = excluded.pruned_hash`,
    )
    .bind(shard, seq, hash),
];
