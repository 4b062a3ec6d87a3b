/** Reads a JSON request body within its size limit, and within the bytes in flight. */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { checkBounds, JsonPastBounds, type JsonBounds } from '../shared/json/json-spans.ts';
import { BodyTooLarge, ENCODED, isEncoded, readText, STRICT, type Meter } from './read-text.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';

/** A parsed body may weigh this many times the size limit: records stay below that, millions of empty objects do not. */
export const WEIGHT_FACTOR = 8;

const PIECE_BYTES = 65_536;

export interface JsonBody {
  text: string;
  json: unknown;
}

/** @throws PorticoError `unsupported_media_type`, `payload_too_large`, `busy`, `parse_error` */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
  bounds: JsonBounds,
  bytes: RequestBytes,
): Promise<JsonBody> {
  const type = (request.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new PorticoError('unsupported_media_type');
  }
  let text: string;
  try {
    text = await readText(request, request.headers, maxBytes, meterOf(bytes), true);
  } catch (error) {
    if (error instanceof PorticoError) {
      await discardBody(request, maxBytes);
      throw error;
    }
    if (error instanceof BodyTooLarge) {
      throw new PorticoError('payload_too_large', `The body may have ${maxBytes} bytes at most`);
    }
    if (error instanceof TypeError && !request.signal.aborted) throw noText(request.headers);
    throw new PorticoError('parse_error', 'The body broke off');
  }
  return parseBody(text, maxBytes, bounds, bytes);
}

/** Parses the text of a body. @throws PorticoError `payload_too_large`, `busy`, `parse_error` */
export function parseBody(
  text: string,
  maxBytes: number,
  bounds: JsonBounds,
  bytes: RequestBytes,
): JsonBody {
  checkBody(text, bounds);
  bytes.takeParsed(text, WEIGHT_FACTOR * maxBytes);
  try {
    return { text, json: JSON.parse(text) as unknown };
  } catch {
    throw new PorticoError('parse_error');
  }
}

/** @throws PorticoError `parse_error` if a body is nested too deep, `payload_too_large` if it has too many members */
export function checkBody(text: string, bounds: JsonBounds): void {
  try {
    checkBounds(text, bounds);
  } catch (error) {
    if (!(error instanceof JsonPastBounds)) throw error;
    // No parser accepts a text that is nested too deep; a text with too many members is too large.
    const code = error.bound === 'depth' ? 'parse_error' : 'payload_too_large';
    throw new PorticoError(code, `The body ${error.message}`);
  }
}

/** Reads and drops a refused body: otherwise a client that is still writing would see a broken connection instead of the refusal. */
export async function discardBody({ body }: Request, maxBytes: number): Promise<void> {
  if (!body || body.locked) return;
  // In large pieces, because refusing a body must not cost more than reading it.
  let reader: ReadableStreamBYOBReader | undefined;
  try {
    reader = body.getReader({ mode: 'byob' });
    for (let bytes = 0; bytes <= maxBytes;) {
      const { done, value } = await reader.readAtLeast(PIECE_BYTES, new Uint8Array(PIECE_BYTES));
      if (done) return;
      bytes += value.byteLength;
    }
  } catch {
    // The client is gone, or the body is not one of the platform's own streams.
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** A body is refused if there is no room: nothing has been done with it yet. */
const meterOf = (bytes: RequestBytes): Meter => ({
  take(more) {
    bytes.takeBody(more);
    return undefined;
  },
  end: unneeded => bytes.give(unneeded),
});

/** Decodes a whole body. @throws PorticoError `parse_error`, `unsupported_media_type` */
export function toText(bytes: ArrayBuffer, headers: Headers): string {
  try {
    return STRICT.decode(bytes);
  } catch {
    throw noText(headers);
  }
}

/** Returns the error for bytes that are not text. */
function noText(headers: Headers): PorticoError {
  return isEncoded(headers)
    ? new PorticoError('unsupported_media_type', ENCODED)
    : new PorticoError('parse_error', 'The body is not valid UTF-8');
}
