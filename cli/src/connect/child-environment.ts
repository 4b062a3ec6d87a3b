/**
 * The environment of a child: the user's variables that a program needs to run at all, and those of its configuration. Nothing else of the
 * user's environment, which may hold other programs' credentials. Pure.
 */
import type { Environment } from '../folders.ts';

const INHERITED =
  'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR TZ USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME';
const INHERITED_ON_WINDOWS =
  'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMFILES ' +
  'SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR';

/**
 * @param own environment of this process
 * @param configured variables of the server; they win
 */
export function childEnvironment(
  own: Environment,
  configured: Readonly<Record<string, string>> = {},
  platform: string = process.platform,
): Record<string, string> {
  const names = (platform === 'win32' ? INHERITED_ON_WINDOWS : INHERITED).split(' ');
  const kept = names.flatMap(name => {
    const value = own[name];
    // Bash exports functions in this form; a shell started by the child would run them.
    return value === undefined || value.startsWith('()') ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...configured };
}
