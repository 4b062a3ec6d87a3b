/** What a route passes on of its request to the rooms below. */
import { principalOwner } from '../shared/identity/object-owners.ts';
import type { Context } from 'hono';
import { parseBearer } from '../shared/identity/principal.ts';
import type { Snapshot, Snapshots } from '../access/admission/snapshots.ts';
import { readCookie } from '../sign-in/sign-in-cookie.ts';
import type { CallerView } from '../gateway/viewer.ts';
import { TRACEPARENT } from '../tracing/traceparent.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import type { ApiEnv } from './frame.ts';

/** Returns a function that keeps work running after the response. */
export const deferOf =
  ({ executionCtx }: Context<ApiEnv>) =>
  (work: Promise<unknown>): void =>
    executionCtx.waitUntil(work);

/** Returns the trace context under which a request's work is recorded. */
export const parentOf = ({ env, req }: Context<ApiEnv>): string | undefined =>
  env.operation?.traceparent ?? req.header(TRACEPARENT);

/** Returns the context of calls made for a request; the calls end with the request. */
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

/** Returns what the caller of a snapshot sees. */
export const callerViewOf = ({ caller, servers }: Snapshot): CallerView => ({
  caller,
  visible: { servers },
});

/**
 * Returns the credential of a request: a bearer token, or else, for a request from one of our own pages, the browser's cookie. The browser
 * marks such a request: a page of another origin can make it send the cookie, but can set neither the header `sec-fetch-site` nor, for a
 * write, our `origin`.
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

/** Loads the current snapshot of the request's caller; undefined if the credential is no longer valid. */
export async function snapshotNow(
  context: Context<ApiEnv>,
  snapshots: Snapshots,
): Promise<Snapshot | undefined> {
  const token = credentialOf(context.req.raw);
  return token === undefined ? undefined : snapshots.load(token, undefined, deferOf(context));
}
