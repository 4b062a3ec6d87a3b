/** Reads a JSON request body within its bound, and within what may be in flight. */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { checkBounds, JsonPastBounds, type JsonBounds } from '../shared/json/json-spans.ts';
import { BodyTooLarge, ENCODED, isEncoded, readText, STRICT, type Meter } from './read-text.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';

/** A body may weigh this many times its largest size once it is parsed: records do, millions of empty objects do not. */
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

/** The body that a text is. @throws PorticoError `payload_too_large`, `busy`, `parse_error` */
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

/** @throws PorticoError `parse_error` where a body is nested too deep, `payload_too_large` where it has too many members */
export function checkBody(text: string, bounds: JsonBounds): void {
  try {
    checkBounds(text, bounds);
  } catch (error) {
    if (!(error instanceof JsonPastBounds)) throw error;
    // No parser takes what is too deep; what has too much in it is too large.
    const code = error.bound === 'depth' ? 'parse_error' : 'payload_too_large';
    throw new PorticoError(code, `The body ${error.message}`);
  }
}

/** Takes a refused body from the wire: a client that is still writing would hear of a broken connection, not of the refusal. */
export async function discardBody({ body }: Request, maxBytes: number): Promise<void> {
  if (!body || body.locked) return;
  // In large pieces: what is refused must not cost more than what is read.
  let reader: ReadableStreamBYOBReader | undefined;
  try {
    reader = body.getReader({ mode: 'byob' });
    for (let bytes = 0; bytes <= maxBytes;) {
      const { done, value } = await reader.readAtLeast(PIECE_BYTES, new Uint8Array(PIECE_BYTES));
      if (done) return;
      bytes += value.byteLength;
    }
  } catch {
    // The client is gone, or the body is none of the platform's own.
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** A body is refused where there is no room: nothing has come of it yet. */
const meterOf = (bytes: RequestBytes): Meter => ({
  take(more) {
    bytes.takeBody(more);
    return undefined;
  },
  end: unneeded => bytes.give(unneeded),
});

/** A whole body as text. @throws PorticoError `parse_error`, `unsupported_media_type` */
export function toText(bytes: ArrayBuffer, headers: Headers): string {
  try {
    return STRICT.decode(bytes);
  } catch {
    throw noText(headers);
  }
}

/** What is wrong with bytes that are no text. */
function noText(headers: Headers): PorticoError {
  return isEncoded(headers)
    ? new PorticoError('unsupported_media_type', ENCODED)
    : new PorticoError('parse_error', 'The body is not valid UTF-8');
}
