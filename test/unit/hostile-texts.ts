/** Texts of any length that make a bad expression or scanner slow, and measuring the CPU time of work on them. */
import { loadCorpus } from '../fixtures/corpora.ts';

/** The pieces that hostile texts repeat. */
export const PIECES: readonly string[] = [
  '-eyJ', 'eyJaaaa.', 'a.', '-a', '--a ', '"', '\\', '\\"', "'", 'Bearer ', '://', 'x://y', 'x://y:z@',
  '-----BEGIN ', '-----BEGIN PRIVATE KEY', '-----BEGIN PRIVATE KEY-----', '-----END ', ' ', '\t',
  '\n', '\r', '\r\n', '[[[[', '{', '${', '${{', 'a', 'A', 'aA', '0', '-', '_', '__', '/', '.', ':', ';',
  ',', '=', '*', '%41', '%', '<', '>', 'a=', 'a: ', 'token ', 'token: ', '"token":', 'password=', '"a":"',
  '\u0300', 'e\u0301', '\u200b', '\u202e', 'é', '中', '\ud800', '👩‍👩‍👧', 'K', 'ſ', '/~1', '.5f', '\u0000', '\u001b[',
]; // prettier-ignore

/** A text of this length, in UTF-16 units. */
export const repeated = (piece: string, chars: number): string =>
  piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);

/** The corpus of strings that break software, each repeated to a length, and its origin. */
export function naughtyTexts(chars: number): { texts: string[]; origin: string } {
  const { cases, origin } = loadCorpus('naughty-strings');
  return { texts: cases.filter(text => text !== '').map(text => repeated(text, chars)), origin };
}

/** CPU time of this thread for the work, in milliseconds; other processes and threads do not count. */
export function costOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The cost of the reference work on a quiet machine, in milliseconds. */
const REFERENCE_MS = 40;
const REFERENCE_TEXT = 'ab '.repeat(4_000_000);
const MOST_SLOWNESS = 10;

/** How much slower this machine is at the moment: other processes use its caches too. */
function slowness(): number {
  const costs = Array.from({ length: 3 }, () =>
    costOf(() => REFERENCE_TEXT.replaceAll(/a\w /g, '')),
  );
  return Math.min(MOST_SLOWNESS, Math.max(1, Math.min(...costs) / REFERENCE_MS));
}

/** The minimum over several tries, in milliseconds of a quiet machine; stops early once one is good enough. */
export function leastCostOf(work: () => unknown, goodEnough: number, tries = 6): number {
  let least = Infinity;
  for (let tried = 0; tried < tries && least > goodEnough; tried += 1) {
    least = Math.min(least, costOf(work));
  }
  return least > goodEnough ? least / slowness() : least;
}
