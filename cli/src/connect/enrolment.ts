/** Makes this machine a connector of a gateway, once: the token that it gets is kept before anything else is done with it. */
import { EXIT, Failure } from '../failure.ts';
import { findStoredToken, storeToken, toDeviceToken, type StoredToken } from './device-tokens.ts';
import { enrol } from './gateway-api.ts';

/**
 * Enrol under a name, or find that this was done before.
 * @param path where the tokens of this machine are kept
 * @throws Failure
 */
export async function enrolOnce(
  path: string,
  origin: string,
  adminToken: string,
  name: string,
): Promise<{ stored: StoredToken; isNew: boolean }> {
  // First of all: where the file is not right, a new token would be lost.
  const known = await findStoredToken(path, origin);
  const enrolled = await enrol(origin, adminToken, name);
  if (!enrolled) {
    if (known?.name === name) return { stored: known, isNew: false };
    const message = `the gateway has a connector '${name}' already; choose another name`;
    throw new Failure(message, EXIT.usage);
  }
  const token = toDeviceToken(enrolled.token, 'the answer of the gateway');
  const stored = { name: enrolled.connector.name, token };
  await storeToken(path, origin, stored);
  return { stored, isNew: true };
}
