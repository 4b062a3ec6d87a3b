/**
 * Counts the bytes that an API request holds in memory: its body while it is served, the responses of its calls, and a large list or table
 * in the response, which is written at the client's pace.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { discardBody } from '../http/json-body.ts';
import { pacedResponse } from '../http/paced-body.ts';
import { mediaTypeOf } from '../http/read-text.ts';
import { SMALL_BYTES, type RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import type { ApiEnv, ApiPorts } from './frame.ts';

/** The methods that a drain refuses; what only reads may go on. */
const CHANGES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Types of responses that are complete before they are sent, and may be large. */
const WHOLE: ReadonlySet<string> = new Set(['application/json', 'text/csv']);

/** @throws PorticoError `busy`, `payload_too_large` */
export function countBytes(
  { bytes, drain }: Pick<ApiPorts, 'bytes' | 'drain'>,
  maxBodyBytes: number,
): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    if (CHANGES.has(context.req.method)) drain?.check();
    const { connector, snapshot } = context.var;
    const held = bytes.request(connector?.id ?? snapshot.caller.principalId);
    context.set('bytes', held);
    try {
      await takeBody(context, held, maxBodyBytes);
      await next();
      if (context.req.method === 'GET') await paceList(context, held);
    } finally {
      held.release();
    }
  };
}

async function takeBody(
  { req }: Context<ApiEnv>,
  held: RequestBytes,
  maxBytes: number,
): Promise<void> {
  if (!req.raw.body) return;
  // A body in chunks may be longer than the length that it names (RFC 9112, section 6.3).
  const isInChunks = req.header('transfer-encoding') !== undefined;
  const declared = isInChunks ? undefined : req.header('content-length');
  try {
    held.takeBody(Number(declared ?? maxBytes));
  } catch (thrown) {
    await discardBody(req.raw, maxBytes);
    throw thrown;
  }
}

/** A large list waits for its client, so its bytes count until they are written. */
async function paceList(context: Context<ApiEnv>, held: RequestBytes): Promise<void> {
  const { status, headers } = context.res;
  if (!WHOLE.has(mediaTypeOf(headers))) return;
  const text = await context.res.text();
  if (text.length > SMALL_BYTES && !held.take(text.length)) {
    throw new PorticoError('busy', undefined, { retryAfterSeconds: 1 });
  }
  context.res = pacedResponse([text], { status, headers: new Headers(headers) }, held);
}
