/**
 * The hosts that the gateway can be written into, and where each keeps its configuration on this machine, according to its documentation.
 * The content of the entry is in `host-entry.ts`. Pure.
 */
import { posix, win32 } from 'node:path';
import { HOST_ENTRIES, type HostEntry } from '../../../src/servers/transfer/host-entry.ts';

/** What decides where files are on a machine. */
export interface Machine {
  platform: NodeJS.Platform;
  home: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Absolute paths of a host's files. */
interface Files {
  /** Exists if the host was used before. */
  folder: string;
  /** The configuration of the user. */
  file: string;
}

export interface Host {
  /** Its name in commands. */
  id: string;
  title: string;
  entry: HostEntry;
  files(machine: Machine): Files;
  /** Tells the person how to make the host read its file. */
  next: string;
}

/** Returns a file whose parent folder belongs to the host alone. */
function inFolder(machine: Machine, ...path: string[]): Files {
  const { join, dirname } = pathsOf(machine);
  const file = join(...path);
  return { folder: dirname(file), file };
}

const pathsOf = ({ platform }: Machine) => (platform === 'win32' ? win32 : posix);

/** The settings folder of desktop programs. */
function settingsOf(machine: Machine): string {
  const { platform, home, env } = machine;
  const { join } = pathsOf(machine);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME'] || join(home, '.config');
}

export const HOSTS: readonly Host[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    entry: HOST_ENTRIES['claude-code'],
    files(machine) {
      const { join } = pathsOf(machine);
      const folder = machine.env['CLAUDE_CONFIG_DIR'];
      if (folder) return inFolder(machine, folder, '.claude.json');
      return { folder: join(machine.home, '.claude'), file: join(machine.home, '.claude.json') };
    },
    next: 'see claude mcp list',
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    entry: HOST_ENTRIES['claude-desktop'],
    files: machine =>
      inFolder(machine, settingsOf(machine), 'Claude', 'claude_desktop_config.json'),
    next: 'restart Claude Desktop',
  },
  {
    id: 'cursor',
    title: 'Cursor',
    entry: HOST_ENTRIES.cursor,
    files: machine => inFolder(machine, machine.home, '.cursor', 'mcp.json'),
    next: 'restart Cursor',
  },
  {
    id: 'vscode',
    title: 'VS Code',
    entry: HOST_ENTRIES.vscode,
    files: machine => inFolder(machine, settingsOf(machine), 'Code', 'User', 'mcp.json'),
    next: 'start it in VS Code with MCP: List Servers',
  },
  {
    id: 'codex',
    title: 'Codex',
    entry: HOST_ENTRIES.codex,
    files(machine) {
      const folder = machine.env['CODEX_HOME'] || pathsOf(machine).join(machine.home, '.codex');
      return inFolder(machine, folder, 'config.toml');
    },
    next: 'see codex mcp list',
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    entry: HOST_ENTRIES['gemini-cli'],
    files: machine =>
      inFolder(machine, machine.env['GEMINI_CLI_HOME'] || machine.home, '.gemini', 'settings.json'),
    next: 'see gemini mcp list',
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    entry: HOST_ENTRIES.windsurf,
    files: machine => inFolder(machine, machine.home, '.codeium', 'windsurf', 'mcp_config.json'),
    next: 'refresh the list of MCP servers in Windsurf',
  },
  {
    id: 'zed',
    title: 'Zed',
    entry: HOST_ENTRIES.zed,
    files(machine) {
      const { platform, home } = machine;
      if (platform === 'win32') {
        return inFolder(machine, settingsOf(machine), 'Zed', 'settings.json');
      }
      const folder =
        platform === 'darwin' ? pathsOf(machine).join(home, '.config') : settingsOf(machine);
      return inFolder(machine, folder, 'zed', 'settings.json');
    },
    next: 'Zed reads it at once',
  },
];
