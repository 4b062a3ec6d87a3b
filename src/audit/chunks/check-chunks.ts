/**
 * Checks the chain of chunks: each chunk has the hash of its content, each seal has the hash over the previous seal and its own chunks, and
 * the last seal is the one that the object keeps. Chunks that are not sealed yet are checked one by one.
 */
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { yieldToRequests } from '../../shared/util/yield-to-requests.ts';
import type { ChainHead } from '../audit-schema.ts';
import { hashOf, type CallChunk } from './call-chunk.ts';
import { sealHash, type KeptSeals } from './call-chain.ts';
import { listChunksUpTo } from './chunk-store.ts';
import { findSealUpTo, listSeals, NO_SEAL, type Seal } from './seal-store.ts';

/** Result of checking a part of the chain. */
export interface ChunkCheck {
  chunks: number;
  /** Number of the first chunk that is missing or changed; undefined if there is none. */
  brokenSeq?: number;
  /** Where the next check continues; undefined at the end. */
  nextFrom?: number;
  /** The last seal in the database. */
  head: ChainHead;
}

/** Chunks, and seals, read at once. */
const BATCH = 50;
const LAST_ID = '~';

/**
 * @param kept what the object knows
 * @param from number of the first chunk to check; the seal before it is trusted
 * @param limit most chunks to check; the last seal is checked completely even if that takes more
 * @throws PorticoError `validation_failed` if `from` is past the end
 */
export async function checkChunks(
  db: D1Database,
  kept: KeptSeals,
  from: number,
  limit: number,
): Promise<ChunkCheck> {
  const last = (await findSealUpTo(db, Number.MAX_SAFE_INTEGER)) ?? NO_SEAL;
  const head = { seq: last.seq, hash: last.hash };
  if (from > Math.max(last.seq, kept.sealed.seq) + 1) {
    throw fieldProblem('from', `is beyond the end of the chain, which is ${last.seq}`);
  }
  let at: Seal = (await findSealUpTo(db, Math.max(from - 1, kept.pruned.seq))) ?? NO_SEAL;
  let chunks = 0;
  // More was deleted than the object decided to delete.
  if (at.seq < kept.pruned.seq) return { chunks, brokenSeq: at.seq + 1, head };
  for (;;) {
    const seals = await listSeals(db, at.seq, BATCH);
    for (const seal of seals) {
      if (chunks >= limit) return { chunks, nextFrom: at.seq + 1, head };
      const broken = await brokenUnder(db, at, seal);
      if (broken !== undefined) return { chunks, brokenSeq: broken, head };
      chunks += seal.seq - at.seq;
      at = seal;
    }
    if (seals.length < BATCH) break;
  }
  const { sealed } = kept;
  if (at.seq < sealed.seq) return { chunks, brokenSeq: at.seq + 1, head };
  // The object may have sealed more since it was asked; then its earlier seal is among those that were walked.
  const same = at.seq === sealed.seq ? at : await findSealUpTo(db, sealed.seq);
  if (sealed.seq > 0 && same?.hash !== sealed.hash) {
    return { chunks, brokenSeq: sealed.seq, head };
  }
  const { count, brokenAt } = await checkEach(db, at.chunkId, LAST_ID);
  const found = { chunks: chunks + count, head };
  return brokenAt === undefined ? found : { ...found, brokenSeq: at.seq + 1 + brokenAt };
}

/** Returns the number of the first broken chunk under a seal. */
async function brokenUnder(db: D1Database, before: Seal, seal: Seal): Promise<number | undefined> {
  const { brokenAt, seen, count } = await checkEach(db, before.chunkId, seal.chunkId);
  if (brokenAt !== undefined) return before.seq + 1 + brokenAt;
  const isRight = (await sealHash(before.hash, seen)) === seal.hash;
  return isRight && before.seq + count === seal.seq ? undefined : before.seq + 1;
}

/** Checks each chunk by itself, after one id and up to another. */
async function checkEach(db: D1Database, afterId: string, lastId: string) {
  const seen: { id: string; hash: string }[] = [];
  let after = afterId;
  for (;;) {
    const chunks = await listChunksUpTo(db, after, lastId, BATCH);
    for (const chunk of chunks) {
      if (!(await isWhole(chunk))) return { seen, count: seen.length, brokenAt: seen.length };
      seen.push({ id: chunk.id, hash: chunk.hash });
    }
    const last = chunks.at(-1);
    if (!last || chunks.length < BATCH) return { seen, count: seen.length };
    after = last.id;
    await yieldToRequests();
  }
}

const isWhole = async (chunk: CallChunk): Promise<boolean> => (await hashOf(chunk)) === chunk.hash;
