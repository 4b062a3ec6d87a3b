/**
 * Counts the bytes that an API request holds in memory: its body while it is served, the responses of its calls, and a large list in the
 * response, which is written at the client's pace.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { discardBody, WEIGHT_FACTOR } from '../http/json-body.ts';
import { pacedResponse } from '../http/paced-body.ts';
import { SMALL_BYTES, type RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import type { ApiEnv, ApiPorts } from './frame.ts';

/** The methods that a drain refuses; what only reads may go on. */
const CHANGES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

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
  const length = Number(req.header('content-length') ?? maxBytes);
  try {
    held.takeBody(length);
  } catch (thrown) {
    await discardBody(req.raw, maxBytes);
    throw thrown;
  }
  if (length <= SMALL_BYTES) return;
  // The framework caches the bytes; `boundedJson` later checks that they are text.
  const text = new TextDecoder().decode(await req.arrayBuffer());
  held.takeParsed(text, WEIGHT_FACTOR * maxBytes);
}

/** A large list waits for its client, so its bytes count until they are written. */
async function paceList(context: Context<ApiEnv>, held: RequestBytes): Promise<void> {
  const { status, headers } = context.res;
  if (headers.get('content-type') !== 'application/json') return;
  const text = await context.res.text();
  if (text.length > SMALL_BYTES && !held.take(text.length)) {
    throw new PorticoError('busy', undefined, { retryAfterSeconds: 1 });
  }
  context.res = pacedResponse([text], { status, headers: new Headers(headers) }, held);
}
