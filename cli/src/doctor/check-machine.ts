/** Checks of this machine that need no gateway: the Node version, the configuration file, its programs, stored tokens. */
import { access, constants, readFile, stat } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import type { StdioEntry } from '../../../src/servers/transfer/mcp-entry.ts';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';
import { childEnvironment } from '../connect/child-environment.ts';
import { toServer } from '../connect/config.ts';
import { toTokenPath } from '../connect/device-tokens.ts';
import { Failure } from '../failure.ts';
import type { Environment } from '../folders.ts';
import { OLDEST_NODE } from '../oldest-node.ts';
import { failed, ok, skipped, type Finding } from './finding.ts';

const MAX_CONFIG_BYTES = 4_194_304;

/** @param version from `process.versions.node` */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return ok('Node', version);
  return failed('Node', `${version} is too old`, `install Node ${OLDEST_NODE.join('.')} or newer`);
}

/** @param found the global `WebSocket` */
export function checkWebSocket(found: unknown): Finding {
  if (typeof found === 'function') return ok('WebSocket', 'available');
  const advice =
    'remove --no-experimental-websocket from NODE_OPTIONS; portico connect needs WebSocket';
  return failed('WebSocket', 'this Node has none', advice);
}

/** Checks the file of servers, and that its programs can be found. */
export async function checkConfig(
  path: string | undefined,
  env: Environment,
): Promise<readonly Finding[]> {
  const check = 'config file';
  const file = path ?? 'mcp.json';
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_CONFIG_BYTES) return [failed(check, `${file} is too large`, 'name an mcp.json')];
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (path === undefined && code === 'ENOENT') {
      return [skipped(check, 'no mcp.json here; name one with --config')];
    }
    return [
      failed(check, `${file} cannot be read (${code})`, 'check --config and its permissions'),
    ];
  }
  const parsed = parseMcpJson(text);
  if ('problem' in parsed) {
    return [failed(check, `${file} ${parsed.problem}`, 'fix the file; it must be an mcp.json')];
  }
  const { entries } = parsed;
  const broken = entries.flatMap(entry =>
    entry.kind === 'broken'
      ? entry.problems.map(problem => `${problem.field}: ${problem.message}`)
      : [],
  );
  const whole =
    broken.length > 0
      ? failed(check, `${file}: ${broken.join('; ')}`, 'fix these entries')
      : ok(check, `${file}, ${entries.length} ${entries.length === 1 ? 'server' : 'servers'}`);
  const programs = entries.filter(entry => entry.kind === 'stdio').filter(isEnabled);
  return [whole, ...(await Promise.all(programs.map(entry => checkProgram(entry, file, env))))];
}

const isEnabled = ({ isDisabled }: StdioEntry) => !isDisabled;

/** Looks for a program as `portico connect` does. */
async function checkProgram(entry: StdioEntry, file: string, env: Environment): Promise<Finding> {
  const check = `command of ${entry.name}`;
  try {
    const { command, cwd = '.', env: own } = toServer(entry, file, env, []);
    const isFolder = await stat(cwd).then(
      found => found.isDirectory(),
      () => false,
    );
    if (!isFolder) return failed(check, `${cwd} is not a folder`, 'correct its cwd');
    const isPath = /[/\\]/.test(command);
    const folders = isPath ? [''] : (childEnvironment(env, own)['PATH'] ?? '').split(delimiter);
    const found = await findProgram(
      command,
      cwd,
      folders.filter(folder => isPath || folder),
    );
    if (found !== undefined) return ok(check, found);
    return isPath
      ? failed(check, `${resolve(cwd, command)} is not a program`, 'correct its path')
      : failed(check, `${command} is not in PATH`, 'install it, or write its full path');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return failed(check, error.message, 'correct the file or the environment');
  }
}

/** Returns the file that a command runs. @param cwd where it is started */
async function findProgram(
  command: string,
  cwd: string,
  folders: readonly string[],
): Promise<string | undefined> {
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = resolve(cwd, folder, command + ending);
      const isProgram = await access(file, constants.X_OK).then(
        async () => (await stat(file)).isFile(),
        () => false,
      );
      if (isProgram) return file;
    }
  }
  return undefined;
}

/** Checks files with tokens, which only their owner may read: the stored ones of connectors, and the one of `--token-file`. */
export async function checkTokenFiles(
  tokenFile: string | undefined,
  env: Environment,
): Promise<readonly Finding[]> {
  const stored = toTokenPath(env);
  const files = [stored, ...(tokenFile === undefined ? [] : [tokenFile])];
  return Promise.all(files.map(file => checkTokenFile(file, file === stored)));
}

async function checkTokenFile(file: string, isStored: boolean): Promise<Finding> {
  const check = isStored ? 'connector tokens' : 'token file';
  try {
    const { mode } = await stat(file);
    const isOpen = process.platform !== 'win32' && (mode & 0o077) !== 0;
    if (isOpen) return failed(check, `others can read ${file}`, `chmod 600 ${file}`);
    return ok(check, `${file}, readable only by its owner`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isStored && code === 'ENOENT') return skipped(check, 'this machine is not a connector');
    return failed(check, `${file} cannot be read (${code})`, 'use another --token-file');
  }
}
