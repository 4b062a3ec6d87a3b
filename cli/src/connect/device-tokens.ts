/**
 * Stores the device tokens of this machine by their gateway's origin, in a file that only its owner may read (`portico/connectors.json`
 * below XDG_CONFIG_HOME or `~/.config`). The file is replaced as a whole, and is not read if others could read it.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { EXIT, Failure } from '../failure.ts';
import { settingsFolder, type Environment } from '../folders.ts';
import { readPrivateFile, writePrivateFile } from '../private-file.ts';

const FORMAT = /^portico_device_[A-Za-z0-9_-]{43}$/;
const StoredSchema = z.object({ name: z.string(), token: z.string().regex(FORMAT) });
const FileSchema = z.record(z.string(), StoredSchema);

/** A device token, and its connector's name at the gateway. */
export type StoredToken = z.infer<typeof StoredSchema>;

/** Path of the file with the tokens. */
export function toTokenPath(env: Environment): string {
  return join(settingsFolder(env), 'connectors.json');
}

/**
 * Checks that a text is a device token.
 * @param from where it came from, for the message
 * @throws Failure, without the text
 */
export function toDeviceToken(text: string, from: string): string {
  const token = text.trim();
  if (FORMAT.test(token)) return token;
  throw new Failure(`${from} does not contain a device token (portico_device_…)`, EXIT.usage);
}

/** @throws Failure where the file is invalid, or others may read it */
export async function findStoredToken(
  path: string,
  origin: string,
): Promise<StoredToken | undefined> {
  return (await readAll(path))[origin];
}

/** Stores a token; it replaces one of the same gateway. */
export async function storeToken(path: string, origin: string, stored: StoredToken): Promise<void> {
  const all = { ...(await readAll(path)), [origin]: stored };
  await writePrivateFile(path, all);
}

async function readAll(path: string): Promise<Record<string, StoredToken>> {
  const text = await readPrivateFile(path);
  if (text === undefined) return {};
  try {
    return FileSchema.parse(JSON.parse(text));
  } catch {
    throw new Failure(`${path} has an invalid format; move it away and enrol again`);
  }
}
