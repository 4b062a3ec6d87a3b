/**
 * The Host of a request, looked at before anything else of it: one that is malformed or there twice makes no URL, or the URL of another
 * path, and in local mode only names of this machine are answered, on every route alike (SEC-5; `origin.ts` has the rule).
 */
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { checkOrigin, type OriginPolicy } from './origin.ts';

interface Served {
  fetch(request: Request, context: ExecutionContext): Response | Promise<Response>;
}

/** A name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 9110 §7.2). */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/** An application that is asked under a Host of its own only. */
export function createHostCheck(policy: OriginPolicy, app: Served): Served {
  return {
    fetch(request, context) {
      try {
        checkHost(request, policy);
      } catch (thrown) {
        return toProblemResponse(toPorticoError(thrown));
      }
      return app.fetch(request, context);
    },
  };
}

/** @throws PorticoError `invalid_request`, `origin_refused` */
function checkHost({ url, headers }: Request, policy: OriginPolicy): void {
  const host = headers.get('host');
  if (!URL.canParse(url) || (host !== null && !HOST.test(host))) {
    throw new PorticoError('invalid_request', 'The Host header is not valid');
  }
  checkOrigin(new URL(url), null, policy);
}
