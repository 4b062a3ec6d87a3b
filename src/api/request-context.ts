/** What a route hands on of its request to what works for it. */
import { principalOwner } from '../shared/identity/object-owners.ts';
import type { Context } from 'hono';
import { parseBearer } from '../shared/identity/token.ts';
import type { Snapshot, Snapshots } from '../access/admission/snapshots.ts';
import type { CallerView } from '../gateway/viewer.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import type { ApiEnv } from './frame.ts';

/** Runs what outlives the response. */
export const deferOf =
  ({ executionCtx }: Context<ApiEnv>) =>
  (work: Promise<unknown>): void =>
    executionCtx.waitUntil(work);

/** What a call needs of the request it is made for: it ends with it. */
export function callContextOf(
  context: Context<ApiEnv>,
): Pick<CallContext, 'signal' | 'origin' | 'owner' | 'waitUntil' | 'bytes'> {
  const { principalId } = context.var.snapshot.caller;
  return {
    signal: context.req.raw.signal,
    origin: new URL(context.req.url).origin,
    owner: serverId => principalOwner(principalId, serverId),
    waitUntil: deferOf(context),
    bytes: context.var.bytes,
  };
}

/** What the caller of a snapshot sees. */
export const callerViewOf = ({ caller, servers }: Snapshot): CallerView => ({
  caller,
  visible: { servers },
});

/** What the request's token may do by now; undefined where it is gone. */
export async function snapshotNow(
  context: Context<ApiEnv>,
  snapshots: Snapshots,
): Promise<Snapshot | undefined> {
  const token = parseBearer(context.req.header('authorization') ?? null);
  return token === undefined ? undefined : snapshots.load(token, undefined, deferOf(context));
}
