/**
 * Splits bytes into lines of bounded length. A line that is too long is skipped, and its two ends are returned, which may show the
 * request's id. Invariant: never holds more than the limit.
 */

export type Line = { text: string } | { tooLong: { head: string; tail: string } };

/** How much of each end of a skipped line is kept, in bytes. */
const END_BYTES = 1_024;
const NEWLINE = 0x0a;

/** @param maxBytes of one line, without its line end */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line, void, undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let head: string | undefined;

  /** Drops the middle of a line that is longer than the limit. */
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
