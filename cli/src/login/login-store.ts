/**
 * The logins of this machine, one file for each gateway (`portico/logins/` below XDG_CONFIG_HOME or `~/.config`), which only its owner may
 * read. A file is replaced as a whole. Processes need no lock: the gateway gives all concurrent refreshes the same response, so each may
 * write it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../failure.ts';
import { settingsFolder, type Environment } from '../folders.ts';
import { readPrivateFile, writePrivateFile } from '../private-file.ts';

const LoginSchema = z.object({
  /** Client id of this command line at the gateway. */
  client_id: z.string(),
  token_endpoint: z.url(),
  revocation_endpoint: z.url(),
  access_token: z.string(),
  refresh_token: z.string(),
  /** Expiry of the access token, in milliseconds since the epoch. */
  expires_at: z.number(),
});
export type Login = z.infer<typeof LoginSchema>;

const ENDING = '.json';

/** The folder of all logins. */
export function toLoginFolder(env: Environment): string {
  return join(settingsFolder(env), 'logins');
}

const toPath = (folder: string, origin: string): string =>
  join(folder, encodeURIComponent(origin) + ENDING);

/** Whether there is a login for a gateway; does not read the file. */
export const hasLogin = (folder: string, origin: string): boolean =>
  existsSync(toPath(folder, origin));

/** Origins of all gateways with a login. */
export function listLogins(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap(name => {
    if (!name.endsWith(ENDING)) return [];
    const origin = decode(name.slice(0, -ENDING.length));
    return URL.parse(origin)?.origin === origin ? [origin] : [];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** @throws Failure where the file is invalid, or others may read it */
export async function readLogin(folder: string, origin: string): Promise<Login | undefined> {
  const path = toPath(folder, origin);
  const text = await readPrivateFile(path);
  if (text === undefined) return undefined;
  try {
    return LoginSchema.parse(JSON.parse(text));
  } catch {
    throw new Failure(`${path} has an invalid format; remove it and run portico login`);
  }
}

/** Stores a login; it replaces one of the same gateway. @throws Failure */
export async function writeLogin(folder: string, origin: string, login: Login): Promise<void> {
  await writePrivateFile(toPath(folder, origin), login);
  // An existing folder may have been open to others.
  await chmod(folder, 0o700);
}

export const removeLogin = (folder: string, origin: string): Promise<void> =>
  rm(toPath(folder, origin), { force: true });
