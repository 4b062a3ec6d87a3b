/** Reads a URL-encoded form, from a page or from a program that calls the authorization server. */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { BodyTooLarge, ENCODED, isEncoded, readText } from './read-text.ts';

const TYPE = 'application/x-www-form-urlencoded';

/** Returns the fields of a form. @throws PorticoError `unsupported_media_type`, `payload_too_large` */
export async function readForm(request: Request, maxBytes: number): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== TYPE) throw new PorticoError('unsupported_media_type', `Send ${TYPE}`);
  if (isEncoded(request.headers)) throw new PorticoError('unsupported_media_type', ENCODED);
  try {
    return new URLSearchParams(await readText(request, request.headers, maxBytes));
  } catch (error) {
    throw error instanceof BodyTooLarge ? new PorticoError('payload_too_large') : error;
  }
}
