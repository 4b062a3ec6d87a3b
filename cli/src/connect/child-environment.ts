/**
 * The environment of a child: what a program needs of the user's own to run at all, and what its configuration names. Nothing
 * else of the user's environment, where other programs' credentials may be. Pure.
 */

type Environment = Readonly<Record<string, string | undefined>>;

const INHERITED =
  'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR TZ USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME';
const INHERITED_ON_WINDOWS =
  'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMFILES ' +
  'SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR';

/**
 * @param own of this process
 * @param configured of the server; it wins
 */
export function childEnvironment(
  own: Environment,
  configured: Readonly<Record<string, string>> = {},
  platform: string = process.platform,
): Record<string, string> {
  const names = (platform === 'win32' ? INHERITED_ON_WINDOWS : INHERITED).split(' ');
  const kept = names.flatMap(name => {
    const value = own[name];
    // Bash exports functions this way; a shell that the child starts would run them.
    return value === undefined || value.startsWith('()') ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...configured };
}
