/**
 * The cache of results as a decorator, innermost: what comes here is resolved, admitted, recorded and counted already, so a hit is a call
 * like any other but for the server, which hears nothing of it. Of equal calls at one moment one goes out, the others wait for it.
 *
 * Invariants: a call that no rule is for goes through as it is; the cache takes nothing away: where it fails, or has nothing in time, the
 * call is made; a result is opened only for whom it was sealed.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { toCacheKey } from '../cache/cache-key.ts';
import { CachedFlight, type FlightPorts } from '../cache/cached-call.ts';
import { decideRule } from '../../servers/cache-rules/cache-rule.ts';
import { wishOfMeta } from '../cache/cache-control.ts';
import type { CallReply } from '../../upstream/protocol/call.ts';
import type { CoreGateway, RelayedRequest, RequestContext } from '../gateway.ts';
import type { Resolved } from '../resolve.ts';

/** Params of a call that is the next round of another, or makes a task. */
const NOT_ALONE = ['requestState', 'inputResponses', 'task'];

/** The gateway with results of before. */
export function withCache(inner: CoreGateway, ports: FlightPorts): CoreGateway {
  async function dispatch(
    caller: Caller,
    request: RelayedRequest,
    context: RequestContext,
    resolved: Resolved,
    send: () => Promise<CallReply>,
    onHit: () => void,
  ): Promise<CallReply> {
    const { server, item, name: tool } = resolved;
    const rule = decideRule(server.cacheRules, item);
    if (rule === undefined) return send();
    const { params } = request;
    const wish = request.cache ?? wishOfMeta(metaOf(params));
    if (wish === 'none' || NOT_ALONE.some(member => params.has(member))) return send();
    const { principalId } = caller;
    const { capabilities } = context;
    const call = { rule, server, tool, params, capabilities, principalId };
    let flight: CachedFlight;
    try {
      const key = await toCacheKey(call);
      flight = new CachedFlight(ports, key, rule.ttlMs, context, send, onHit);
    } catch {
      return send();
    }
    return wish === 'fresh' ? flight.renewed() : flight.taken();
  }

  return {
    ...inner,

    async request(caller, reach, naming, request, context) {
      if (request.method !== 'tools/call') {
        return inner.request(caller, reach, naming, request, context);
      }
      let isHit = false;
      const routed = await inner.request(caller, reach, naming, request, {
        ...context,
        dispatch: (resolved, send) =>
          dispatch(caller, request, context, resolved, send, () => (isHit = true)),
      });
      return isHit ? { ...routed, isHit } : routed;
    },
  };
}

/** Params as far as the wish is in them. */
function metaOf(params: RelayedRequest['params']): unknown {
  const meta = params.get('_meta');
  return meta === undefined ? undefined : { _meta: JSON.parse(meta) as unknown };
}
