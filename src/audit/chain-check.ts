/**
 * Checks a chain of audit rows: each follows the one before it without a gap, carries its hash, and its own hash is that of its
 * columns; the last is the one the head names. Pure but for the hash function. It tells the first place where that ends,
 * not what was done there. A chain rewritten from some row to its head passes: only a head that was noted elsewhere
 * shows that.
 */
import { eventHash, type ChainedEvent, type ChainHead } from './audit-schema.ts';

/** How far a walk has come: the row it stands on, or the number of the first that is not right. */
export type Walk = { head: ChainHead } | { brokenSeq: number };

/** Walk on from a head over the rows behind it. */
export async function walk(from: ChainHead, rows: readonly ChainedEvent[]): Promise<Walk> {
  let head = from;
  for (const row of rows) {
    const seq = head.seq + 1;
    const isNext = row.seq === seq && row.previousHash === head.hash;
    if (!isNext || row.hash !== (await eventHash(row))) return { brokenSeq: seq };
    head = { seq, hash: row.hash };
  }
  return { head };
}

/** What is wrong at the end of a chain walked to its last row; undefined where nothing is. */
export function findBrokenEnd(walked: ChainHead, kept: ChainHead): number | undefined {
  if (walked.seq !== kept.seq) return Math.min(walked.seq, kept.seq) + 1;
  return walked.hash === kept.hash ? undefined : walked.seq;
}
