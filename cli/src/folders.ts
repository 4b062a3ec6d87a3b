/** The folders in which the commands keep the files of this machine's user (XDG Base Directory). */
import { homedir } from 'node:os';
import { join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Logins and device tokens. */
export const settingsFolder = (env: Environment): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'portico');

/** Default data folder of `portico up`. */
export const dataFolder = (env: Environment): string =>
  join(env['XDG_DATA_HOME'] || join(env['HOME'] || homedir(), '.local', 'share'), 'portico', 'up');
