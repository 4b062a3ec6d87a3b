/**
 * The Host of a request, looked at before anything else of it: one that is malformed or there twice makes no URL, or the URL of another
 * path, and only the gateway's own names are answered, on every route alike (SEC-5; `origin.ts` has the rule).
 */
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { asAsked, checkOrigin, type OriginPolicy } from './origin.ts';

/** An application that is given the URL of each request, parsed once. */
export interface Served {
  fetch(request: Request, url: URL, context: ExecutionContext): Response | Promise<Response>;
}

/** A name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 9110 §7.2). */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/** An application that is asked under a Host of its own only. */
export function createHostCheck(policy: OriginPolicy, app: Served) {
  return {
    fetch(request: Request, context: ExecutionContext): Response | Promise<Response> {
      let url: URL;
      try {
        url = checkedUrl(request, policy);
      } catch (thrown) {
        return toProblemResponse(toPorticoError(thrown));
      }
      return app.fetch(request, url, context);
    },
  };
}

/** @throws PorticoError `invalid_request`, `origin_refused` */
function checkedUrl(request: Request, policy: OriginPolicy): URL {
  const host = request.headers.get('host');
  const url = URL.parse(request.url);
  if (url === null || (host !== null && !HOST.test(host))) {
    throw new PorticoError('invalid_request', 'The Host header is not valid');
  }
  const asked = asAsked(url, policy);
  checkOrigin(asked, null, policy);
  return asked;
}
