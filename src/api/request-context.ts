/** What a route hands on of its request to what works for it. */
import { principalOwner } from '../shared/identity/object-owners.ts';
import type { Context } from 'hono';
import { parseBearer } from '../shared/identity/principal.ts';
import type { Snapshot, Snapshots } from '../access/admission/snapshots.ts';
import { readCookie } from '../sign-in/sign-in-cookie.ts';
import type { CallerView } from '../gateway/viewer.ts';
import { TRACEPARENT } from '../tracing/traceparent.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import type { ApiEnv } from './frame.ts';

/** Runs what outlives the response. */
export const deferOf =
  ({ executionCtx }: Context<ApiEnv>) =>
  (work: Promise<unknown>): void =>
    executionCtx.waitUntil(work);

/** The trace and span that what is done for a request is part of. */
export const parentOf = ({ env, req }: Context<ApiEnv>): string | undefined =>
  env.operation?.traceparent ?? req.header(TRACEPARENT);

/** What a call needs of the request it is made for: it ends with it. */
export function callContextOf(
  context: Context<ApiEnv>,
): Pick<CallContext, 'signal' | 'origin' | 'owner' | 'waitUntil' | 'bytes' | 'operation'> {
  const { principalId } = context.var.snapshot.caller;
  return {
    signal: context.req.raw.signal,
    origin: new URL(context.req.url).origin,
    owner: serverId => principalOwner(principalId, serverId),
    waitUntil: deferOf(context),
    bytes: context.var.bytes,
    operation: context.env.operation,
  };
}

/** What the caller of a snapshot sees. */
export const callerViewOf = ({ caller, servers }: Snapshot): CallerView => ({
  caller,
  visible: { servers },
});

/**
 * What a request shows of who asks: a bearer token, else, where a page of our own asks, the cookie of the browser. The browser says that it
 * does: a page of any other origin can make it send the cookie, and neither that header nor, where something is done, our origin.
 */
export function credentialOf(request: Request): string | undefined {
  const authorization = request.headers.get('authorization');
  if (authorization !== null) return parseBearer(authorization);
  const url = new URL(request.url);
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const isOwn = request.headers.get('sec-fetch-site') === 'same-origin';
  const isFromPage = isOwn && (isReading || request.headers.get('origin') === url.origin);
  return isFromPage ? readCookie(request, url) : undefined;
}

/** What who asks may do by now; undefined where that is nobody any more. */
export async function snapshotNow(
  context: Context<ApiEnv>,
  snapshots: Snapshots,
): Promise<Snapshot | undefined> {
  const token = credentialOf(context.req.raw);
  return token === undefined ? undefined : snapshots.load(token, undefined, deferOf(context));
}
