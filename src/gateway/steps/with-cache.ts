/**
 * The cache of results as a decorator, innermost: what comes here is resolved, admitted, recorded and counted already, so a hit is a call
 * like any other but for the server, which hears nothing of it. Of equal calls at one moment one goes out, the others wait for it.
 *
 * Invariants: a call that no rule is for goes through as it is; the cache takes nothing away: where it fails, or has nothing in time, the
 * call is made; a result is opened only for whom it was sealed.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { toCacheKey } from '../cache/cache-key.ts';
import { CachedRequest, type CachedRequestPorts } from '../cache/cached-call.ts';
import { decideRule } from '../../servers/cache-rules/cache-rule.ts';
import { directiveOfMeta } from '../cache/cache-control.ts';
import type { CallReply } from '../../upstream/protocol/call.ts';
import type { CoreGateway, RelayedRequest, DispatchContext } from '../gateway.ts';
import type { Resolved } from '../resolve.ts';

/** Params of a call that is the next round of another, or makes a task. */
const NOT_ALONE = ['requestState', 'inputResponses', 'task'];

/** The gateway with results of before. */
export function withCache(inner: CoreGateway, ports: CachedRequestPorts): CoreGateway {
  async function dispatch(
    caller: Caller,
    request: RelayedRequest,
    context: DispatchContext,
    resolved: Resolved,
    send: () => Promise<CallReply>,
    onHit: () => void,
  ): Promise<CallReply> {
    const { server, item, name: tool } = resolved;
    const rule = decideRule(server.cacheRules, item);
    if (rule === undefined) return send();
    const { params } = request;
    const directive = request.cache ?? directiveOfMeta(metaOf(params));
    if (directive === 'none' || NOT_ALONE.some(member => params.has(member))) return send();
    const { principalId } = caller;
    const { capabilities } = context;
    const call = { rule, server, tool, params, capabilities, principalId };
    let inFlight: CachedRequest;
    try {
      const key = await toCacheKey(call);
      inFlight = new CachedRequest(ports, key, rule.ttlMs, context, send, onHit);
    } catch {
      return send();
    }
    return directive === 'fresh' ? inFlight.renewed() : inFlight.taken();
  }

  return {
    ...inner,

    async request(caller, visible, naming, request, context) {
      if (request.method !== 'tools/call') {
        return inner.request(caller, visible, naming, request, context);
      }
      let isHit = false;
      const routed = await inner.request(caller, visible, naming, request, {
        ...context,
        dispatch: (resolved, send) =>
          dispatch(caller, request, context, resolved, send, () => (isHit = true)),
      });
      return isHit ? { ...routed, isHit } : routed;
    },
  };
}

/** Params as far as the directive is in them. */
function metaOf(params: RelayedRequest['params']): unknown {
  const meta = params.get('_meta');
  return meta === undefined ? undefined : { _meta: JSON.parse(meta) as unknown };
}
