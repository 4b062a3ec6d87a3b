/**
 * The value form of mirrored headers: plain ASCII, or the Base64 sentinel for all else.
 * Source: MCP 2026-07-28, Streamable HTTP, Value Encoding.
 */
const PREFIX = '=?base64?';
const SUFFIX = '?=';
const PLAIN = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;

const isSentinel = (value: string) => value.startsWith(PREFIX) && value.endsWith(SUFFIX);

/** A text as a header value. */
export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !isSentinel(text)) return text;
  const binary = Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte));
  return `${PREFIX}${btoa(binary.join(''))}${SUFFIX}`;
}

/** The text of a header value, or undefined where a sentinel holds no UTF-8 in Base64. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isSentinel(value) || value.length < PREFIX.length + SUFFIX.length) return value;
  try {
    const binary = atob(value.slice(PREFIX.length, -SUFFIX.length));
    const bytes = Uint8Array.from(binary, char => char.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
