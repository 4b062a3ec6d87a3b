/**
 * The cache of results. What comes here is resolved, admitted, recorded and counted already, so a hit is a call
 * like any other but for the server, which hears nothing of it. Of equal calls at one moment one goes out, the others wait for it.
 *
 * Invariants: a call that no rule is for goes through as it is; the cache takes nothing away: where it fails, or has nothing in time, the
 * call is made; a result is opened only for whom it was sealed.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { toCacheKey } from '../cache/cache-key.ts';
import { CachedRequest, type CacheAnswer, type CachedRequestPorts } from '../cache/cached-call.ts';
import { decideRule } from '../../servers/cache-rules/cache-rule.ts';
import { directiveOfMeta } from '../cache/cache-control.ts';
import type { CallContext, CallReply } from '../../upstream/protocol/call.ts';
import type { RelayedRequest } from '../gateway.ts';
import type { Resolved } from '../resolve.ts';

/** Params of a call that is the next round of another, or makes a task. */
const NOT_ALONE = ['requestState', 'inputResponses', 'task'];

/** A call that is resolved and recorded. */
export interface CacheableCall {
  caller: Caller;
  request: RelayedRequest;
  context: CallContext;
  resolved: Resolved;
}

/** Answers a call with a result of before, where a rule of the server allows it and there is one; else makes the call. */
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

/** Params as far as the directive is in them. */
function metaOf(params: RelayedRequest['params']): unknown {
  const meta = params.get('_meta');
  return meta === undefined ? undefined : { _meta: JSON.parse(meta) as unknown };
}
