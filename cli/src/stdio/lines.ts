/**
 * Bytes into lines, each bounded: a line that is too long is skipped to its end and told with its two ends, from which it may
 * be seen whose it was. Invariant: never more than the bound is held.
 */

export type Line = { text: string } | { tooLong: { head: string; tail: string } };

/** How much of each end of a line that is too long is kept, in bytes. */
const END_BYTES = 1_024;
const NEWLINE = 0x0a;

/** @param maxBytes of one line, without its end */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line, void, undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let head: string | undefined;

  /** What is kept of a line that has outgrown the bound. */
  function shorten(): void {
    const whole = Buffer.concat(parts);
    head ??= whole.toString('utf8', 0, END_BYTES);
    parts = [whole.subarray(-END_BYTES)];
  }

  function finish(): Line {
    if (size > maxBytes) shorten();
    const text = Buffer.concat(parts).toString('utf8');
    const line = head === undefined ? { text } : { tooLong: { head, tail: text } };
    parts = [];
    size = 0;
    head = undefined;
    return line;
  }

  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, end));
      size += end - from;
      from = end + 1;
      yield finish();
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > maxBytes) shorten();
  }
  if (size > 0) yield finish();
}
