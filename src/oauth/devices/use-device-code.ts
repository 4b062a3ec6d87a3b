/**
 * Polls of a program that shows a code (RFC 8628 §3.4 and §3.5). While it waits it has a row in `oauth_devices`. Once allowed, it has a
 * grant with the HMAC of its device code and without the challenge and redirect of an authorization code, so that the two are never
 * confused.
 */
import type { OAuthClient } from '../clients/client.ts';
import { requireAudience } from '../audience.ts';
import { findByCode } from '../grants/grant-store.ts';
import { isOpaque, toKept, type TokenAnswer } from '../grants/grant.ts';
import { issueForCode, type IssuePorts } from '../grants/issue.ts';
import { OAuthError } from '../oauth-error.ts';
import { pollDevice } from './device-store.ts';

const BAD_REQUEST = 400;

const unknown = () =>
  new OAuthError('invalid_grant', 'The device_code is not known to this client; begin again');
const expired = () => new OAuthError('expired_token', 'The device_code has expired; begin again');

/** @throws OAuthError with the codes of RFC 8628 §3.5 */
export async function useDeviceCode(
  form: URLSearchParams,
  client: OAuthClient,
  origin: string,
  ports: IssuePorts,
): Promise<TokenAnswer> {
  const { db, keys, now } = ports;
  const code = form.get('device_code') ?? '';
  if (!isOpaque('device_code', code)) throw unknown();
  const hmacs = await keys.hmacs('oauth', toKept('device_code', code));
  const polled = await pollDevice(db, hmacs, client.id, now());
  if (polled) {
    const { device, isTooSoon } = polled;
    if (device.clientId !== client.id) throw unknown();
    if (device.isRefused) throw new OAuthError('access_denied', 'The user refused it', BAD_REQUEST);
    if (device.expiresAt <= now()) throw expired();
    if (isTooSoon) throw new OAuthError('slow_down', 'Poll less often', BAD_REQUEST);
    throw new OAuthError('authorization_pending', 'Nobody has allowed it yet');
  }
  // Read second: a program that is allowed between both reads is found here.
  const grant = await findByCode(db, hmacs);
  if (!grant) throw expired();
  const isOfDevice = grant.code_challenge === null && grant.redirect_uri === null;
  if (grant.client_id !== client.id || !isOfDevice) throw unknown();
  const isUnused = grant.redeemed_at === null;
  if (isUnused && (grant.code_expires_at ?? 0) <= now()) throw expired();
  requireAudience(form.getAll('resource'), grant, origin);
  await ports.clients.touch(client, now());
  return issueForCode(grant, ports);
}
