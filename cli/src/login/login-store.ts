/**
 * The logins of this machine, one file for each gateway (`portico/logins/` below XDG_CONFIG_HOME or `~/.config`), which only its owner may
 * read. A file is replaced whole. Processes take no turns: the gateway gives all who refresh at once the same answer, so each may write it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../failure.ts';

const LoginSchema = z.object({
  /** What the gateway calls this command line. */
  client_id: z.string(),
  token_endpoint: z.url(),
  revocation_endpoint: z.url(),
  access_token: z.string(),
  refresh_token: z.string(),
  /** When the access token ends, in milliseconds since the epoch. */
  expires_at: z.number(),
});
export type Login = z.infer<typeof LoginSchema>;

const ENDING = '.json';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of all logins. */
export function toLoginFolder(env: Environment): string {
  const folder = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  return join(folder, 'portico', 'logins');
}

const toPath = (folder: string, origin: string): string =>
  join(folder, encodeURIComponent(origin) + ENDING);

/** Whether somebody signed in to a gateway here. Looks into no file. */
export const hasLogin = (folder: string, origin: string): boolean =>
  existsSync(toPath(folder, origin));

/** Origins of the gateways that somebody signed in to here. */
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

/** @throws Failure where the file is not right, or others may read it */
export async function readLogin(folder: string, origin: string): Promise<Login | undefined> {
  const path = toPath(folder, origin);
  let text: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Failure(`others may read ${path}; run \`chmod 600\` on it`);
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw error instanceof Failure ? error : new Failure(`${path} cannot be read (${code})`);
  }
  try {
    return LoginSchema.parse(JSON.parse(text));
  } catch {
    throw new Failure(`${path} is not as this command writes it; remove it and run portico login`);
  }
}

/** Keep a login; one of the same gateway is replaced. @throws Failure */
export async function writeLogin(folder: string, origin: string, login: Login): Promise<void> {
  const path = toPath(folder, origin);
  const next = `${path}.${randomUUID()}.new`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    await writeFile(next, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`${path} cannot be written (${code ?? String(error)})`);
  }
}

export const removeLogin = (folder: string, origin: string): Promise<void> =>
  rm(toPath(folder, origin), { force: true });
