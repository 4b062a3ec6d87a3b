/**
 * The checks that every request passes before its path picks a handler.
 *
 * Host (SEC-5) comes first, on every route alike: a Host header that is malformed or sent twice gives no URL, or the URL of another path.
 * In local mode the gateway responds to loopback names only, so that a page whose name was rebound to 127.0.0.1 gets nothing. On a server
 * it responds to its public name, and to loopback names for its host, which lets nobody else use them (`local/public-listener.ts`).
 *
 * The address rate limit comes before the credential is read. It uses the platform's own counter, cheap and inexact, against floods; the
 * exact limits of a caller are in `audit/limits/`. It counts by `cf-connecting-ip` only, because the platform writes that header; headers
 * that a client could write prove nothing. IPv6 addresses count by their /64 network, all of which one machine can use. A request without
 * an address passes, and so does one whose counter fails: a broken counter must not take the gateway down, since every later check still
 * applies.
 *
 * Origin (Fetch standard, CORS): a browser page may call only from the gateway's own origin or an allowed one, each granted by name. Tokens
 * come in a header that a page sets itself, so browser credentials are never allowed.
 */
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { toSite } from './client-site.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface OriginPolicy {
  readonly mode: 'local' | 'server' | 'production';
  /** The only origin under which others reach the gateway; undefined in local mode, and where the platform knows the names. */
  readonly publicOrigin: string | undefined;
  /** Browser origins that may call, besides the gateway's own. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Returns the URL that the client requested: TLS ended before the gateway, so a request for the public origin arrives over http.
 * @returns the same URL if it is not of the public origin
 */
export function asRequested(url: URL, { publicOrigin }: Pick<OriginPolicy, 'publicOrigin'>): URL {
  if (publicOrigin === undefined || url.origin === publicOrigin) return url;
  const requested = new URL(url);
  requested.protocol = publicOrigin.slice(0, publicOrigin.indexOf(':'));
  return requested.origin === publicOrigin ? requested : url;
}

/** @throws PorticoError `origin_refused` */
export function checkOrigin(url: URL, origin: string | null, policy: OriginPolicy): void {
  if (!isOwnName(url, policy)) {
    const named = policy.mode === 'local' ? 'this machine' : 'this gateway';
    throw new PorticoError('origin_refused', `The Host header must name ${named}`);
  }
  if (origin === null || origin === url.origin || policy.allowedOrigins.includes(origin)) return;
  const isLocalPage =
    policy.mode === 'local' && URL.canParse(origin) && LOOPBACK.has(new URL(origin).hostname);
  if (!isLocalPage) throw new PorticoError('origin_refused', 'This origin is not allowed');
}

function isOwnName(url: URL, { mode, publicOrigin }: OriginPolicy): boolean {
  if (mode !== 'production' && LOOPBACK.has(url.hostname)) return true;
  return publicOrigin === undefined ? mode === 'production' : url.origin === publicOrigin;
}

/** An application that receives the URL of each request, parsed once. */
export interface Served<Context> {
  fetch(request: Request, url: URL, context: Context): Response | Promise<Response>;
}

/** A name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 9110 §7.2). */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

export interface EntryPorts {
  config: OriginPolicy;
  /** The platform's counter; absent if there is none. */
  addressLimit?: { limit(of: { key: string }): Promise<{ success: boolean }> } | undefined;
}

/** Puts an application behind the checks. */
export function createEntryChecks<Context>(ports: EntryPorts, app: Served<Context>) {
  const { config } = ports;
  return createHostCheck(config, createAddressLimit(ports, createCors(config, app)));
}

/** Passes only requests with a Host of the gateway's own. */
function createHostCheck<Context>(policy: OriginPolicy, app: Served<Context>) {
  return {
    fetch(request: Request, context: Context): Response | Promise<Response> {
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
  const requested = asRequested(url, policy);
  checkOrigin(requested, null, policy);
  return requested;
}

/** Seconds after which the counter restarts: its period in `wrangler.toml`. */
const PERIOD_SECONDS = 60;

/** Puts an application behind the address rate limit; without a counter, returns the application itself. */
function createAddressLimit<Context>(
  { addressLimit }: EntryPorts,
  app: Served<Context>,
): Served<Context> {
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
      if (address !== null && !(await isAllowed(toSite(address)))) {
        const retryAfterSeconds = PERIOD_SECONDS;
        return toProblemResponse(
          new PorticoError('rate_limited', undefined, { retryAfterSeconds }),
        );
      }
      return app.fetch(request, url, context);
    },
  };
}

const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** Headers that the protocol and the API read; a client's mirrored arguments come under any `Mcp-Param-*` name. */
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'cache-control',
  'content-type',
  'if-match',
  'if-none-match',
  'last-event-id',
  'portico-owner',
  'traceparent',
  'tracestate',
];
const REQUEST_HEADER = /^mcp-[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
const RESPONSE_HEADERS =
  'etag, location, mcp-protocol-version, mcp-session-id, retry-after, www-authenticate';
/** How long a browser may cache the grant of a preflight, in seconds. */
const MAX_AGE_SECONDS = 600;
const MAX_REQUESTED = 64;

/** Lets pages of allowed origins call an application. Requests without an origin, or from the gateway's own, pass unchanged. */
function createCors<Context>(policy: OriginPolicy, app: Served<Context>): Served<Context> {
  return {
    fetch(request, url, context) {
      const origin = request.headers.get('origin');
      if (origin === null) return app.fetch(request, url, context);
      if (origin === url.origin || !mayCall(url, origin, policy)) {
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

function mayCall(url: URL, origin: string, policy: OriginPolicy): boolean {
  try {
    checkOrigin(url, origin, policy);
    return true;
  } catch (thrown) {
    if (thrown instanceof PorticoError) return false;
    throw thrown;
  }
}

function preflight({ headers }: Request, origin: string): Response {
  const requested = (headers.get('access-control-request-headers') ?? '')
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => name !== '');
  if (requested.length > MAX_REQUESTED) {
    return toProblemResponse(
      new PorticoError('invalid_request', 'Access-Control-Request-Headers names too many headers'),
    );
  }
  const granted = requested.filter(
    name => REQUEST_HEADERS.includes(name) || REQUEST_HEADER.test(name),
  );
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
