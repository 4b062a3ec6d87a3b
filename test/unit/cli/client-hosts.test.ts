/** The hosts whose configuration the gateway is written into: the paths of their files on each system, and what of an entry is shown. */
import { describe, expect, it } from 'vitest';
import {
  changesOf,
  isSame,
  readServer,
  toConfigured,
  withServer,
} from '../../../cli/src/client/configured.ts';
import { HOSTS, type Machine } from '../../../cli/src/client/hosts.ts';

const mac: Machine = { platform: 'darwin', home: '/mac/ada', env: {} };
const linux: Machine = { platform: 'linux', home: '/linux/ada', env: {} };
const windows: Machine = {
  platform: 'win32',
  home: 'C:\\Users\\ada',
  env: { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' },
};
const moved: Machine = {
  ...linux,
  env: {
    XDG_CONFIG_HOME: '/x',
    CLAUDE_CONFIG_DIR: '/claude',
    CODEX_HOME: '/codex',
    GEMINI_CLI_HOME: '/gemini',
  },
};
const SECRET = `portico_${'s'.repeat(43)}`;
const OTHER = 'hunter2-hunter2';

const filesOn = (machine: Machine) =>
  Object.fromEntries(HOSTS.map(host => [host.id, host.files(machine).file]));

describe('the file of a host', () => {
  it('[CLI-4] has the path that macOS uses', () => {
    expect(filesOn(mac)).toEqual({
      'claude-code': '/mac/ada/.claude.json',
      'claude-desktop': '/mac/ada/Library/Application Support/Claude/claude_desktop_config.json',
      cursor: '/mac/ada/.cursor/mcp.json',
      vscode: '/mac/ada/Library/Application Support/Code/User/mcp.json',
      codex: '/mac/ada/.codex/config.toml',
      gemini: '/mac/ada/.gemini/settings.json',
      windsurf: '/mac/ada/.codeium/windsurf/mcp_config.json',
      zed: '/mac/ada/.config/zed/settings.json',
    });
  });

  it('[CLI-4] has the path that Linux uses, or that its variables set', () => {
    expect(filesOn(linux)).toMatchObject({
      'claude-code': '/linux/ada/.claude.json',
      'claude-desktop': '/linux/ada/.config/Claude/claude_desktop_config.json',
      vscode: '/linux/ada/.config/Code/User/mcp.json',
      zed: '/linux/ada/.config/zed/settings.json',
    });
    expect(filesOn(moved)).toMatchObject({
      'claude-code': '/claude/.claude.json',
      'claude-desktop': '/x/Claude/claude_desktop_config.json',
      vscode: '/x/Code/User/mcp.json',
      codex: '/codex/config.toml',
      gemini: '/gemini/.gemini/settings.json',
      zed: '/x/zed/settings.json',
    });
  });

  it('[CLI-4] has the path that Windows uses', () => {
    expect(filesOn(windows)).toEqual({
      'claude-code': 'C:\\Users\\ada\\.claude.json',
      'claude-desktop': 'C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
      cursor: 'C:\\Users\\ada\\.cursor\\mcp.json',
      vscode: 'C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json',
      codex: 'C:\\Users\\ada\\.codex\\config.toml',
      gemini: 'C:\\Users\\ada\\.gemini\\settings.json',
      windsurf: 'C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json',
      zed: 'C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json',
    });
    expect(filesOn({ ...windows, env: {} })).toEqual(filesOn(windows));
  });
});

describe.each(HOSTS.map(host => [host.id, host.entry] as const))('an entry of %s', (_, host) => {
  const url = 'https://mcp.example.com/mcp?names=underscore';
  const entry = host.toEntry(url, `Bearer ${SECRET}`);

  it('[CLI-4] is read as it was written', () => {
    const found = readServer(host, withServer(host, '', 'portico', entry), 'portico');
    expect(found).toMatchObject({ url, token: SECRET });
    expect(found && isSame(found, toConfigured(host, 'portico', entry))).toBe(true);
    expect(readServer(host, withServer(host, '', 'other', entry), 'portico')).toBeUndefined();
  });

  it('[SEC-2] is shown without its token', () => {
    const found = toConfigured(host, 'portico', entry);
    const other = toConfigured(host, 'portico', host.toEntry(`${url}2`, `Bearer ${SECRET}2`));
    const [added, changed, gone] = [
      changesOf(undefined, found),
      changesOf(found, other),
      changesOf(found, undefined),
    ];
    expect([...added, ...changed, ...gone].join('\n')).not.toContain(SECRET);
    expect(added.every(line => line.startsWith('+ '))).toBe(true);
    expect(gone.every(line => line.startsWith('- '))).toBe(true);
    expect(changed.filter(line => line.startsWith('+ ')).length).toBeGreaterThan(0);
    expect(added.join('\n')).toContain('Bearer …');
  });
});

it('[SEC-2] an entry of another server is shown without what looks like a secret', () => {
  const [cursor, codex] = ['cursor', 'codex'].map(id => HOSTS.find(host => host.id === id)?.entry);
  if (!cursor || !codex) throw new Error('they are not there');
  const text = JSON.stringify({
    mcpServers: { portico: { url: 'https://x.example.com', headers: { 'X-Api-Key': OTHER } } },
  });
  const table = `[mcp_servers.portico]\nurl = "https://x.example.com"\nhttp_headers = { X-Api-Key = "${OTHER}", Authorization = "Bearer ${SECRET}" }\n`;
  for (const found of [readServer(cursor, text, 'portico'), readServer(codex, table, 'portico')]) {
    const shown = changesOf(found, undefined).join('\n');
    expect(shown).toContain('https://x.example.com');
    expect(shown).not.toContain(OTHER);
    expect(shown).not.toContain(SECRET);
  }
});
