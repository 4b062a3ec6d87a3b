/**
 * Requests that are over, gathered for a moment and looked at together: what is done again and again costs half of what it costs between
 * the steps of other calls, and the local host gets its lines in one message, since each by itself costs a sixth of what one process can
 * serve. What an isolate has gathered that ends in that moment is lost.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';

/** They are gathered this long, in milliseconds, and so many of them with so much content at most; then they are looked at at once. */
const GATHER_MS = 100;
const MOST = 1_000;
const MOST_CHARS = 4_194_304;
/** Who looks at them was cut off after this, in milliseconds, and somebody else does it. */
const CUT_OFF_MS = 5_000;

export interface EndedBatchPorts<Ended> {
  /** Looks at what was gathered. @param waitUntil of the request that sees to it */
  look(ended: readonly Ended[], waitUntil: WaitUntil): Promise<unknown>;
  /** Characters of content that are in memory as long as it is. */
  charsOf(ended: Ended): number;
  wait(ms: number): Promise<unknown>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** @returns takes what is over */
export function createEndedBatch<Ended>({ look, charsOf, wait, now }: EndedBatchPorts<Ended>) {
  let gathered: Ended[] = [];
  let chars = 0;
  let seenToUntil = Number.NEGATIVE_INFINITY;
  const lookNow = async (waitUntil: WaitUntil) => {
    const ended = gathered;
    gathered = [];
    chars = 0;
    await look(ended, waitUntil).catch(() => {});
  };
  const lookLater = async (waitUntil: WaitUntil) => {
    await wait(GATHER_MS);
    seenToUntil = Number.NEGATIVE_INFINITY;
    await lookNow(waitUntil);
  };
  return (ended: Ended, waitUntil: WaitUntil): void => {
    gathered.push(ended);
    chars += charsOf(ended);
    const isFull = gathered.length >= MOST || chars >= MOST_CHARS;
    if (isFull) return waitUntil(lookNow(waitUntil));
    if (now() < seenToUntil) return;
    seenToUntil = now() + CUT_OFF_MS;
    waitUntil(lookLater(waitUntil));
  };
}
