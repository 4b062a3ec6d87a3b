/** Reads a body as text up to a bound, natively where its length is known. */

export class BodyTooLarge extends Error {}

/**
 * @param headers of the message; the length counts only where nothing is encoded, since what is read
 *   is decoded
 * @throws BodyTooLarge past `maxBytes`; what the stream throws where it breaks off
 */
export async function readText(
  source: { body: ReadableStream<Uint8Array> | null; text(): Promise<string> },
  headers: Headers,
  maxBytes: number,
): Promise<string> {
  const declared = headers.has('content-encoding') ? null : headers.get('content-length');
  const length = declared === null ? NaN : Number(declared);
  if (length > maxBytes) throw new BodyTooLarge();
  if (Number.isInteger(length)) return source.text();
  if (source.body === null) return '';
  const decoder = new TextDecoder();
  const reader = source.body.getReader();
  let bytes = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      reader.cancel().catch(() => {});
      throw new BodyTooLarge();
    }
    text += decoder.decode(value, { stream: true });
  }
}
