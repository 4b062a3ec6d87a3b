/**
 * The head of a request that came from outside: whether it is for this gateway, and what of it goes on to the Worker. What only
 * the platform, the host or a proxy may say (`cf-…`, `mf-…`, `X-Forwarded-…`) never does. Pure.
 */
import { PorticoError } from '../src/shared/errors/portico-error.ts';

/** Of one connection, not of the request (RFC 9110 §7.6.1); the body is framed anew, and `expect` was answered. */
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
const OF_OTHERS = /^(?:cf-|mf-|x-forwarded-|x-real-ip$|forwarded$)/;

export interface Head {
  /** The request target. */
  url?: string | undefined;
  /** Names and values in turn, as they came. */
  rawHeaders: readonly string[];
}

type Header = [name: string, value: string];

function headersOf({ rawHeaders }: Head): Header[] {
  return rawHeaders.flatMap((name, at): Header[] =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
  );
}

/** All values of a header with commas between; undefined where there is none. */
export function valueOf(head: Head, wanted: string): string | undefined {
  const values = headersOf(head).filter(([name]) => name.toLowerCase() === wanted);
  return values.length === 0 ? undefined : values.map(([, value]) => value).join(',');
}

/**
 * Refuse what is not for the gateway.
 * @param origin under which it is asked, and under no other
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

/** The headers that go on, names and values in turn. */
export function toForwarded(head: Head): string[] {
  const dropped = new Set(
    (valueOf(head, 'connection') ?? '').split(',').map(name => name.trim().toLowerCase()),
  );
  const isKept = ([name]: Header) => {
    const lower = name.toLowerCase();
    return !OF_CONNECTION.has(lower) && !OF_OTHERS.test(lower) && !dropped.has(lower);
  };
  const chunked =
    valueOf(head, 'transfer-encoding') === undefined ? [] : ['Transfer-Encoding', 'chunked'];
  return [...headersOf(head).filter(isKept).flat(), ...chunked];
}

/** The same of an answer. */
export function toAnswered(head: Head): string[] {
  return headersOf(head)
    .filter(([name]) => !OF_CONNECTION.has(name.toLowerCase()))
    .flat();
}
