/** Reads a JSON request body within its bound. */
import { PorticoError } from '../errors/portico-error.ts';
import { checkBounds, JsonPastBounds, type JsonBounds } from '../lib/json-bounds.ts';
import { BodyTooLarge, readText } from '../lib/read-text.ts';

export interface JsonBody {
  text: string;
  json: unknown;
}

/** @throws PorticoError `unsupported_media_type`, `payload_too_large`, `parse_error` */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
  bounds: JsonBounds,
): Promise<JsonBody> {
  const type = (request.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new PorticoError('unsupported_media_type');
  }
  let text: string;
  try {
    text = await readText(request, request.headers, maxBytes);
  } catch (error) {
    if (error instanceof BodyTooLarge) {
      throw new PorticoError('payload_too_large', `The body may have ${maxBytes} bytes at most`);
    }
    throw new PorticoError('parse_error', 'The body broke off');
  }
  checkBody(text, bounds);
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
