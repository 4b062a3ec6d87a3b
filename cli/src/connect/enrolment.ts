/** Makes this machine a connector of a gateway, once. The new device token is stored before anything else uses it. */
import { EXIT, Failure } from '../failure.ts';
import { findStoredToken, storeToken, toDeviceToken, type StoredToken } from './device-tokens.ts';
import { enrol, takeOver } from './gateway-api.ts';

/**
 * Enrols under a name, or finds that this was done before.
 * @param path of the file with this machine's tokens
 * @param replaces take over a connector of this name whose token is not stored here
 * @throws Failure
 */
export async function enrolOnce(
  path: string,
  origin: string,
  adminToken: string,
  name: string,
  replaces: boolean,
): Promise<{ stored: StoredToken; isNew: boolean }> {
  // Read first: if the file were unreadable, a new token would be lost.
  const known = await findStoredToken(path, origin);
  const made = await enrol(origin, adminToken, name);
  if (!made && known?.name === name && !replaces) return { stored: known, isNew: false };
  if (!made && !replaces) {
    const ways =
      'take it over with --replace, choose another name, or remove one with portico connectors remove';
    throw new Failure(
      `the gateway has a connector '${name}' already, or too many; ${ways}`,
      EXIT.usage,
    );
  }
  const enrolled = made ?? (await takeOver(origin, adminToken, name));
  const token = toDeviceToken(enrolled.token, 'the response of the gateway');
  const stored = { name: enrolled.connector.name, token };
  await storeToken(path, origin, stored);
  return { stored, isNew: true };
}
