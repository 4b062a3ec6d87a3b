/** Makes `portico up` a connector of its own gateway: enrolled once for a data folder, whatever the port. */
import { join } from 'node:path';
import { findStoredToken, storeToken, toDeviceToken } from '../connect/device-tokens.ts';
import { enrol, isAccepted, takeOver } from '../connect/gateway-api.ts';

const NAME = 'this-machine';
const FILE = 'connectors.json';

/** @returns the device token @throws Failure */
export async function enrolSelf(
  dataDir: string,
  origin: string,
  adminToken: string,
): Promise<string> {
  const path = join(dataDir, FILE);
  const known = await findStoredToken(path, NAME);
  const made = await enrol(origin, adminToken, NAME);
  // The name is taken by the connector whose token is stored here.
  if (!made && known && (await isAccepted(origin, known.token))) return known.token;
  // Otherwise its token was rotated, or lost with the file: no other machine can be this connector.
  const enrolled = made ?? (await takeOver(origin, adminToken, NAME));
  const token = toDeviceToken(enrolled.token, 'the response of the gateway');
  await storeToken(path, NAME, { name: NAME, token });
  return token;
}
