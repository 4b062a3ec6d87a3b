/**
 * Lines of the log on their way to the local host: gathered for a moment and handed over together, since each by itself on the console
 * costs a sixth of what one process can serve. Lines of an isolate that ends in that moment are lost.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';

/** Lines are gathered this long, in milliseconds, and this many characters of them at most; the rest is lost. */
const GATHER_MS = 100;
const MAX_CHARS = 4_194_304;
/** Who hands over was cut off after this, in milliseconds, and somebody else does it. */
const CUT_OFF_MS = 5_000;

export interface LineBatchPorts {
  /** Takes lines, each with its line feed. */
  put(text: string): Promise<unknown>;
  wait(ms: number): Promise<unknown>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** @returns takes a line, without its line feed */
export function createLineBatch({ put, wait, now }: LineBatchPorts) {
  let gathered = '';
  let seenToUntil = Number.NEGATIVE_INFINITY;
  const handOver = async () => {
    await wait(GATHER_MS);
    seenToUntil = Number.NEGATIVE_INFINITY;
    const text = gathered;
    gathered = '';
    await put(text).catch(() => {});
  };
  return (line: string, waitUntil: WaitUntil): void => {
    if (gathered.length + line.length > MAX_CHARS) return;
    gathered += `${line}\n`;
    if (now() < seenToUntil) return;
    seenToUntil = now() + CUT_OFF_MS;
    waitUntil(handOver());
  };
}
