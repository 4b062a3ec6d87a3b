/**
 * Origin and Host (SEC-5): a browser page may call only from the gateway's own origin or an
 * allowed one, and in local mode the gateway answers only to loopback names, so that a page whose
 * name was rebound to 127.0.0.1 gets nothing. Pure.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface OriginPolicy {
  localMode: boolean;
  allowedOrigins: readonly string[];
}

/** @throws PorticoError `origin_refused` */
export function checkOrigin(url: URL, origin: string | null, policy: OriginPolicy): void {
  if (policy.localMode && !LOOPBACK.has(url.hostname)) {
    throw new PorticoError('origin_refused', 'The Host header must name this machine');
  }
  if (origin === null || origin === url.origin || policy.allowedOrigins.includes(origin)) return;
  const isLocalPage =
    policy.localMode && URL.canParse(origin) && LOOPBACK.has(new URL(origin).hostname);
  if (!isLocalPage) throw new PorticoError('origin_refused', 'This origin is not allowed');
}
