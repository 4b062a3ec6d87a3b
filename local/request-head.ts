/**
 * The head of a request from outside: checks that it is for this gateway, and selects the headers that the Worker gets. Headers that only
 * the platform, the host or a proxy may set (`cf-…`, `mf-…`, `X-Forwarded-…`) are removed. Pure.
 */
import { PorticoError } from '../src/shared/errors/portico-error.ts';

/**
 * Headers of the connection, not of the request (RFC 9110 §7.6.1). Also `transfer-encoding`, since the body is framed anew, and `expect`,
 * which was answered already.
 */
const OF_CONNECTION = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Where the request goes and where its body ends: no `Connection` header removes these, or the body would be read as the next request. */
const OF_FRAMING = new Set(['host', 'content-length']);
const OF_OTHERS = /^(?:cf-|mf-|x-forwarded-|x-real-ip$|forwarded$)/;

export interface Head {
  /** The request target. */
  url?: string | undefined;
  /** Names and values in turn, as received. */
  rawHeaders: readonly string[];
}

type Header = [name: string, value: string];

function headersOf({ rawHeaders }: Head): Header[] {
  return rawHeaders.flatMap((name, at): Header[] =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
  );
}

/** Returns all values of a header, joined by commas; undefined if there are none. */
export function valueOf(head: Head, wanted: string): string | undefined {
  const values = headersOf(head).filter(([name]) => name.toLowerCase() === wanted);
  return values.length === 0 ? undefined : values.map(([, value]) => value).join(',');
}

/**
 * Refuses requests that are not for the gateway.
 * @param origin the only origin under which the gateway is requested
 * @throws PorticoError `invalid_request`, `origin_refused`
 */
export function checkHead(head: Head, origin: string): void {
  const hosts = headersOf(head).filter(([name]) => name.toLowerCase() === 'host');
  if (hosts.length !== 1 || !/^[\w.:[\]-]{1,300}$/.test(hosts[0]?.[1] ?? '')) {
    throw new PorticoError('invalid_request', 'The Host header is not valid');
  }
  if (!head.url?.startsWith('/')) {
    throw new PorticoError('invalid_request', 'The request target must be a path');
  }
  const { protocol } = new URL(origin);
  if (URL.parse(`${protocol}//${hosts[0]?.[1]}`)?.origin !== origin) {
    throw new PorticoError('origin_refused', 'The Host header must name this gateway');
  }
}

/** Returns the headers to forward, names and values in turn. */
export function toForwarded(head: Head): string[] {
  const dropped = new Set(
    (valueOf(head, 'connection') ?? '').split(',').map(name => name.trim().toLowerCase()),
  );
  const isKept = ([name]: Header) => {
    const lower = name.toLowerCase();
    if (OF_CONNECTION.has(lower) || OF_OTHERS.test(lower)) return false;
    return OF_FRAMING.has(lower) || !dropped.has(lower);
  };
  const chunked =
    valueOf(head, 'transfer-encoding') === undefined ? [] : ['Transfer-Encoding', 'chunked'];
  return [...headersOf(head).filter(isKept).flat(), ...chunked];
}

/** Returns the headers of a response to forward, names and values in turn. */
export function toAnswered(head: Head): string[] {
  return headersOf(head)
    .filter(([name]) => !OF_CONNECTION.has(name.toLowerCase()))
    .flat();
}
