/**
 * The value form of mirrored headers: plain ASCII, or the Base64 sentinel for all else.
 * Source: MCP 2026-07-28, Streamable HTTP, Value Encoding.
 */
const PREFIX = '=?base64?';
const SUFFIX = '?=';
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** What may come in plain: white space around a value belongs to the header, not to the value. */
const VISIBLE = /^[\t\x20-\x7e]*$/;
/** RFC 4648, section 4, with its padding; `atob` alone would take less. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isSentinel = (value: string) =>
  value.length >= PREFIX.length + SUFFIX.length &&
  value.startsWith(PREFIX) &&
  value.endsWith(SUFFIX);

/** A text as a header value. The empty text is encoded too: some peers drop empty headers. */
export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !isSentinel(text)) return text;
  const binary = Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte));
  return `${PREFIX}${btoa(binary.join(''))}${SUFFIX}`;
}

/**
 * The text of a header value, or undefined where it holds other characters than a header may, or
 * a sentinel holds no UTF-8 in Base64.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isSentinel(value)) return VISIBLE.test(value) ? value : undefined;
  const base64 = value.slice(PREFIX.length, -SUFFIX.length);
  if (!BASE64.test(base64)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), char => char.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
