/**
 * A fetch for addresses that others name (token endpoints, metadata): each address is checked first, redirects are not
 * followed, only JSON bodies are read, whole and within a limit, and the signal ends all of it. An error names what
 * went wrong and nothing of the other side.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { BodyTooLarge, mediaTypeOf, readText } from './read-text.ts';
import { decideAddress } from './address-policy.ts';

const MAX_BYTES = 65_536;
/** Statuses whose responses cannot have a body. */
const BODILESS = new Set([204, 205, 304]);

/** Something was refused for what it is, so a retry does not help. */
export class AnswerRefused extends PorticoError {
  readonly reason: 'address' | 'redirect' | 'size';

  constructor(reason: AnswerRefused['reason'], detail: string) {
    super('credential_unavailable', detail);
    this.reason = reason;
  }
}

/** @returns a fetch that throws PorticoError `credential_unavailable` */
export function createGuardedFetch(
  allowsLoopback: boolean,
  signal: AbortSignal,
  maxBytes = MAX_BYTES,
): typeof fetch {
  return async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    if (!decideAddress(address, allowsLoopback).allowed) {
      throw new AnswerRefused('address', 'The address of the authorization server is not allowed');
    }
    let response: Response;
    try {
      response = await fetch(address, { ...init, redirect: 'manual', signal });
    } catch {
      throw unavailable(
        signal.aborted
          ? 'The authorization server did not answer in time'
          : 'The authorization server cannot be reached',
      );
    }
    const { status, headers } = response;
    if (status >= 300 && status < 400) {
      response.body?.cancel().catch(() => {});
      throw new AnswerRefused(
        'redirect',
        'The authorization server redirects, which is never followed',
      );
    }
    if (!mediaTypeOf(headers).includes('json')) {
      response.body?.cancel().catch(() => {});
      return new Response(null, { status, headers: plain(headers) });
    }
    const text = await readText(response, headers, maxBytes).catch((error: unknown) => {
      throw error instanceof BodyTooLarge
        ? new AnswerRefused('size', 'The answer of the authorization server is larger than allowed')
        : unavailable('The answer of the authorization server was cut off');
    });
    return new Response(BODILESS.has(status) ? null : text, { status, headers: plain(headers) });
  };
}

/** Removes the headers that are no longer true of a body that was read. */
function plain(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name);
  return kept;
}

const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
