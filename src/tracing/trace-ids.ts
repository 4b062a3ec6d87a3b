/** Ids of traces and spans. Source: W3C Trace Context, §3.2.2 and §3.2.3. */

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** Random bytes are drawn this many at a time, since each draw costs more than its bytes. */
const DRAWN_BYTES = 3_072;

/** Hex digits that the isolate has drawn and not used yet. */
const isolate = { drawn: '' };

/** Returns random bytes as hex digits, 16 bytes at most; never all zeros, which W3C forbids. */
export function randomHex(bytes: number): string {
  for (;;) {
    if (isolate.drawn.length < 2 * bytes) isolate.drawn = draw();
    const hex = isolate.drawn.slice(-2 * bytes);
    isolate.drawn = isolate.drawn.slice(0, -2 * bytes);
    if (/[1-9a-f]/.test(hex)) return hex;
  }
}

function draw(): string {
  let hex = '';
  for (const byte of crypto.getRandomValues(new Uint8Array(DRAWN_BYTES))) hex += HEX[byte] ?? '';
  return hex;
}
