/** Ids of traces and spans. Source: W3C Trace Context, §3.2.2 and §3.2.3. */

/** Random bytes as hex digits; never all zeros, which W3C does not allow. */
export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  if (random.every(byte => byte === 0)) random[0] = 1;
  let hex = '';
  for (const byte of random) hex += HEX[byte] ?? '';
  return hex;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
