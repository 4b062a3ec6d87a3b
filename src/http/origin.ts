/**
 * Origin and Host (SEC-5): a browser page may call only from the gateway's own origin or an allowed one. In local mode the gateway
 * answers to loopback names only, so that a page whose name was rebound to 127.0.0.1 gets nothing; on a server to its public
 * name, and to loopback names for the host that runs it, which lets nobody else use them (`local/public-listener.ts`). Pure.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface OriginPolicy {
  readonly mode: 'local' | 'server' | 'production';
  /** The one origin under which others ask; undefined in local mode, and where the platform knows the names. */
  readonly publicOrigin: string | undefined;
  /** Origins of browsers that may call, beside the gateway's own. */
  readonly allowedOrigins: readonly string[];
}

/**
 * The URL as a client asked for it: TLS ended before the gateway, so that a request of the public origin comes over http.
 * @returns the same URL where it is not of the public origin
 */
export function asAsked(url: URL, { publicOrigin }: Pick<OriginPolicy, 'publicOrigin'>): URL {
  if (publicOrigin === undefined || url.origin === publicOrigin) return url;
  const asked = new URL(url);
  asked.protocol = publicOrigin.slice(0, publicOrigin.indexOf(':'));
  return asked.origin === publicOrigin ? asked : url;
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
