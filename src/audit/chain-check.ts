/**
 * Checks a chain of audit rows: each row follows the one before it without a gap, carries that row's hash, and its own
 * hash is that of its columns; the last row is the one that the head names. Pure but for the hash function. It reports
 * the first place where this fails, not what was done there. A chain that was rewritten from some row to its head
 * passes: only a head that was recorded elsewhere reveals that.
 */
import { eventHash, type ChainedEvent, type ChainHead } from './audit-schema.ts';

/** Progress of a walk: the last row that is right, or the number of the first that is not. */
export type Walk = { head: ChainHead } | { brokenSeq: number };

/** Walks from a head over the rows after it. */
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

/** Returns the number of the first broken row at the end of a chain walked to its last row; undefined if there is none. */
export function findBrokenEnd(walked: ChainHead, kept: ChainHead): number | undefined {
  if (walked.seq !== kept.seq) return Math.min(walked.seq, kept.seq) + 1;
  return walked.hash === kept.hash ? undefined : walked.seq;
}
