/**
 * The result cache. A call that comes here is already resolved, admitted, recorded and counted, so a hit is a call like any other, except
 * that nothing is sent to the server. Of equal calls at one moment one is sent, and the others wait for its result.
 *
 * Invariants: a call without a rule passes unchanged; the cache takes nothing away: if it fails, or has nothing in time, the call is made;
 * a result can be opened only for the scope that it was sealed for.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { toCacheKey } from '../cache/cache-key.ts';
import { CachedRequest, type CacheAnswer, type CachedRequestPorts } from '../cache/cached-call.ts';
import { decideRule } from '../../servers/cache-rules/cache-rule.ts';
import { directiveOfMeta } from '../cache/cache-control.ts';
import type { CallContext, CallReply } from '../../upstream/protocol/call.ts';
import type { RelayedRequest } from '../gateway.ts';
import type { Resolved } from '../resolve.ts';

/** Params of a call that is the next round of another, or that makes a task. */
const NOT_ALONE = ['requestState', 'inputResponses', 'task'];

/** A call that is resolved and recorded. */
export interface CacheableCall {
  caller: Caller;
  request: RelayedRequest;
  context: CallContext;
  resolved: Resolved;
}

/** Answers a call with a cached result, if a rule of the server allows it and there is one; else makes the call. */
export async function answerFromCache(
  { caller, request, context, resolved }: CacheableCall,
  ports: CachedRequestPorts,
  send: () => Promise<CallReply>,
): Promise<CacheAnswer> {
  const { server, item, name: tool } = resolved;
  const rule = request.method === 'tools/call' ? decideRule(server.cacheRules, item) : undefined;
  if (rule === undefined) return { reply: await send() };
  const { params } = request;
  const directive = request.cache ?? directiveOfMeta(metaOf(params));
  if (directive === 'none' || NOT_ALONE.some(member => params.has(member))) {
    return { reply: await send() };
  }
  const { principalId } = caller;
  const { capabilities } = context;
  const call = { rule, server, tool, params, capabilities, principalId };
  let cached: CachedRequest;
  try {
    const key = await toCacheKey(call);
    cached = new CachedRequest(ports, key, rule.ttlMs, context, send);
  } catch {
    return { reply: await send() };
  }
  return directive === 'fresh' ? cached.renewed() : cached.taken();
}

/** Returns the part of the params that may hold the directive. */
function metaOf(params: RelayedRequest['params']): unknown {
  const meta = params.get('_meta');
  return meta === undefined ? undefined : { _meta: JSON.parse(meta) as unknown };
}
