/** Base64url without padding (RFC 4648 §5), for tokens, sealed ids and cursors. */

export function toBase64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** @returns undefined if the text is not base64url, or not the canonical text of its bytes */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = new Uint8Array(binary.length);
    // A chunk of calls is long, and `Uint8Array.from` takes ten times as long as this loop.
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
    const tail = bytes.subarray(bytes.length - (bytes.length % 3));
    return text.endsWith(toBase64Url(tail)) ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Returns random bytes from the platform's CSPRNG. */
export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Returns the lower-case hexadecimal SHA-256 of a text's UTF-8 bytes. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('');
}
