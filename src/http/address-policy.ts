/**
 * Which addresses Portico may fetch: a pure decision, made only here (SEC-3). Allowed is https to public host names; if
 * the deployment allows it also loopback, over http too. Addresses must not contain credentials. A Worker cannot see
 * what a name resolves to: names that stand for private addresses by convention are refused by a list
 * (`private-names.ts`), others are refused by the platform on Cloudflare.
 */

import punycode from 'punycode/punycode.js';
import { INTERNAL_NAMES, isWithin, REDIRECTING_NAMES } from './private-names.ts';

export type AddressDecision = { allowed: true; url: URL } | { allowed: false; reason: string };

const refuse = (reason: string): AddressDecision => ({ allowed: false, reason });

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const HOST_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Decides on an address that an administrator or an upstream supplied.
 * @param address the text as supplied
 */
export function decideAddress(address: string, allowsLoopback: boolean): AddressDecision {
  if (/[\s\\\p{Cc}]/u.test(address))
    return refuse('the address contains a character that no URL may have');
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return refuse('the address is not a URL');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('use https');
  // The parser also reads `https:host` and `https:///host`; whoever compares origins as text reads another one there.
  if (!/^https?:\/\/[^/]/i.test(address)) return refuse('write two slashes before the host');
  if (url.username !== '' || url.password !== '') {
    return refuse('put credentials into headers, not into the address');
  }
  if (LOOPBACK.has(url.hostname)) {
    return allowsLoopback ? { allowed: true, url } : refuse('loopback is not allowed here');
  }
  if (url.protocol !== 'https:') return refuse('use https');
  const host = url.hostname.replace(/\.$/, '');
  const labels = host.split('.');
  if (host.startsWith('[') || /^\d+$/.test(labels.at(-1) ?? '')) {
    return refuse('use a host name, not an address literal');
  }
  if (host.length > 253 || labels.length < 2 || !labels.every(isHostLabel)) {
    return refuse('the host is not a public name');
  }
  if (isWithin(INTERNAL_NAMES, host)) {
    return refuse('the host is not a public name');
  }
  if (isWithin(REDIRECTING_NAMES, host)) {
    return refuse(
      'the host is under a name that resolves to any address; use the name of the server itself',
    );
  }
  return { allowed: true, url };
}

/**
 * Whether addresses that a server names may be on this machine: only if the server is. One elsewhere could otherwise
 * send requests to the machine's own services.
 */
export const mayNameLoopback = (serverUrl: string, allowsLoopback: boolean): boolean =>
  allowsLoopback && LOOPBACK.has(new URL(serverUrl).hostname);

/**
 * Whether a label consists of letters, digits, hyphens and underscores. An internationalised label (RFC 5891) must also
 * decode to text in its normal form, as every name that can be registered does.
 */
function isHostLabel(label: string): boolean {
  if (!HOST_LABEL.test(label)) return false;
  if (!label.startsWith('xn--')) return true;
  try {
    const decoded = punycode.decode(label.slice(4));
    const isText = decoded !== '' && !/[\p{Cc}\p{Cn}\p{Co}\p{Cs}]/u.test(decoded);
    return isText && decoded === decoded.normalize('NFKC');
  } catch {
    return false;
  }
}
