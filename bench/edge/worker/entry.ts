/**
 * The gateway with meters, for `npm run bench:edge`; never deployed. `/ledger` returns the counters, `/forget` makes the next request start
 * on an isolate without any memory.
 */
import gateway from '../../../src/index.ts';
import { handleLedger, LEDGER } from './ledger.ts';
import { meterEnv } from './metered-env.ts';

export {
  AccessChanges,
  AuditLog,
  CallChain,
  ClientSession,
  Connector,
  ResultCache,
  ServerMonitor,
  Webhooks,
} from '../../../src/index.ts';

let seen: Env | undefined;

export default {
  fetch(request, env, context) {
    const url = new URL(request.url);
    if (url.pathname === '/ledger') return handleLedger(url);
    if (url.pathname === '/forget') {
      // A new environment object makes a new application.
      seen = { ...env };
      return new Response();
    }
    seen ??= env;
    return gateway.fetch(request, meterEnv(seen, LEDGER), context);
  },
} satisfies ExportedHandler<Env>;
