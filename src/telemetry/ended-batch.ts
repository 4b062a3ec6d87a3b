/**
 * Gathers ended requests for a moment and processes them together. In a batch, repeated work costs half of what it costs between the steps
 * of other calls, and the local host gets all lines in one message; a message per line would cost a sixth of what one process can serve. If
 * the isolate ends in that moment, what it gathered is lost.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';

/**
 * Requests are gathered for this time, in milliseconds, and up to this number and this many characters of content; then they are processed
 * at once.
 */
const GATHER_MS = 100;
const MOST = 1_000;
const MOST_CHARS = 4_194_304;
/** If processing takes longer than this, in milliseconds, it was cut off, and another request starts it. */
const CUT_OFF_MS = 5_000;

export interface EndedBatchPorts<Ended> {
  /** Processes a batch. @param waitUntil of the request that started it */
  process(ended: readonly Ended[], waitUntil: WaitUntil): Promise<unknown>;
  /** Characters of content that the request keeps in memory. */
  charsOf(ended: Ended): number;
  wait(ms: number): Promise<unknown>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** @returns a function that accepts ended requests */
export function createEndedBatch<Ended>({ process, charsOf, wait, now }: EndedBatchPorts<Ended>) {
  let gathered: Ended[] = [];
  let chars = 0;
  let seenToUntil = Number.NEGATIVE_INFINITY;
  const processNow = async (waitUntil: WaitUntil) => {
    const ended = gathered;
    gathered = [];
    chars = 0;
    await process(ended, waitUntil).catch(() => {});
  };
  const processLater = async (waitUntil: WaitUntil) => {
    await wait(GATHER_MS);
    seenToUntil = Number.NEGATIVE_INFINITY;
    await processNow(waitUntil);
  };
  return (ended: Ended, waitUntil: WaitUntil): void => {
    gathered.push(ended);
    chars += charsOf(ended);
    const isFull = gathered.length >= MOST || chars >= MOST_CHARS;
    if (isFull) return waitUntil(processNow(waitUntil));
    if (now() < seenToUntil) return;
    seenToUntil = now() + CUT_OFF_MS;
    waitUntil(processLater(waitUntil));
  };
}
