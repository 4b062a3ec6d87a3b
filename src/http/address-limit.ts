/**
 * A limit of requests from one address, asked before the credential is looked at. It is the platform's own counter, cheap and
 * inexact, for floods; what a caller may do exactly is counted elsewhere (`audit/limits/`).
 *
 * It counts by `cf-connecting-ip` only, which the platform writes; what a client could write itself says nothing. A request without an
 * address passes, and so does one whose counter fails: a counter that is out of order must not take the gateway with it, since behind it
 * everything is still checked.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import type { Served } from './host.ts';

export interface AddressLimitPorts {
  /** The platform's counter; absent where there is none. */
  addressLimit?: Pick<RateLimit, 'limit'> | undefined;
}

/** Seconds after which the counter begins anew: its period in `wrangler.toml`. */
const PERIOD_SECONDS = 60;

/** An application behind the limit; without a counter it is the application itself. */
export function createAddressLimit({ addressLimit }: AddressLimitPorts, app: Served): Served {
  if (!addressLimit) return app;
  const isAllowed = async (key: string) => {
    try {
      return (await addressLimit.limit({ key })).success;
    } catch {
      return true;
    }
  };
  return {
    async fetch(request, url, context) {
      const address = request.headers.get('cf-connecting-ip');
      if (address !== null && !(await isAllowed(address))) {
        const retryAfterSeconds = PERIOD_SECONDS;
        return toProblemResponse(
          new PorticoError('rate_limited', undefined, { retryAfterSeconds }),
        );
      }
      return app.fetch(request, url, context);
    },
  };
}
