/**
 * Cross-origin requests of pages (Fetch standard, CORS): granted to the origins that may call at all (`origin.ts`) and to no other,
 * each by its own name. A token comes in a header that a page sets itself, so credentials of the browser are never allowed.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import type { Served } from './host.ts';
import { checkOrigin, type OriginPolicy } from './origin.ts';

const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** What the protocol and the API read; a client's own mirrored arguments come under any `Mcp-Param-*` name. */
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'if-match',
  'if-none-match',
  'last-event-id',
  'traceparent',
  'tracestate',
];
const REQUEST_HEADER = /^mcp-[a-z0-9-]{1,64}$/;
const RESPONSE_HEADERS =
  'etag, location, mcp-protocol-version, mcp-session-id, retry-after, www-authenticate';
/** How long a browser may remember what is granted, in seconds. */
const MAX_AGE_SECONDS = 600;
const MAX_ASKED = 64;

/** An application that pages of allowed origins may call. What comes without an origin, or from its own, passes untouched. */
export function createCors(policy: OriginPolicy, app: Served): Served {
  return {
    fetch(request, url, context) {
      const origin = request.headers.get('origin');
      if (origin === null) return app.fetch(request, url, context);
      if (origin === url.origin || !isAllowed(url, origin, policy)) {
        return app.fetch(request, url, context);
      }
      const isPreflight =
        request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
      if (isPreflight) return preflight(request, origin);
      return Promise.resolve(app.fetch(request, url, context)).then(response =>
        granting(response, origin),
      );
    },
  };
}

function isAllowed(url: URL, origin: string, policy: OriginPolicy): boolean {
  try {
    checkOrigin(url, origin, policy);
    return true;
  } catch (thrown) {
    if (thrown instanceof PorticoError) return false;
    throw thrown;
  }
}

function preflight({ headers }: Request, origin: string): Response {
  const asked = (headers.get('access-control-request-headers') ?? '')
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => name !== '');
  if (asked.length > MAX_ASKED) {
    return toProblemResponse(new PorticoError('invalid_request', 'Too many headers are asked for'));
  }
  const granted = asked.filter(name => REQUEST_HEADERS.includes(name) || REQUEST_HEADER.test(name));
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': granted.join(', '),
      'access-control-max-age': String(MAX_AGE_SECONDS),
      vary: 'origin, access-control-request-headers',
    },
  });
}

function granting(response: Response, origin: string): Response {
  const granted = new Response(response.body, response);
  granted.headers.set('access-control-allow-origin', origin);
  granted.headers.set('access-control-expose-headers', RESPONSE_HEADERS);
  granted.headers.append('vary', 'origin');
  return granted;
}
