/**
 * Ready-to-paste configuration of the clients that people have, for the gateway itself. Pure text: an address and a token, or a
 * place for one, go in. Hosts that hand tool names to a model get `?names=underscore`, the style that all of them accept.
 */

import { HOST_ENTRIES, toTomlTable, type Host, type HostEntry } from './host-entry.ts';

export const CLIENTS = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'windsurf',
  'cline',
  'codex',
  'zed',
  'gemini-cli',
  'curl',
] as const;
export type Client = (typeof CLIENTS)[number];

export interface ClientConfig {
  /** What it is, for people, with the file it belongs into. */
  title: string;
  text: string;
}

/** Name of the shell variable that stands for a token that is not shown. */
export const TOKEN_VARIABLE = 'PORTICO_TOKEN';

const TITLES: Readonly<Record<Exclude<Host, 'claude-code'>, string>> = {
  'claude-desktop': 'Claude Desktop (claude_desktop_config.json)',
  cursor: 'Cursor (.cursor/mcp.json)',
  vscode: 'VS Code (.vscode/mcp.json)',
  windsurf: 'Windsurf (mcp_config.json)',
  cline: 'Cline (cline_mcp_settings.json)',
  codex: 'Codex (.codex/config.toml)',
  zed: 'Zed (settings.json)',
  'gemini-cli': 'Gemini CLI (.gemini/settings.json)',
};

/** Longest line of JSON that holds more than one value. */
const LINE_LENGTH = 110;

/**
 * The configuration for one client.
 * @param origin without a slash at its end
 * @param token the token, or undefined to leave a place for it
 */
export function toClientConfig(
  client: Client,
  origin: string,
  token: string | undefined,
): ClientConfig {
  const url = `${origin}/mcp?names=underscore`;
  const shellToken = token ?? `$${TOKEN_VARIABLE}`;
  const authorization = `Bearer ${token ?? 'YOUR_TOKEN'}`;
  if (client === 'curl') return { title: 'curl', text: toCurl(origin, shellToken) };
  if (client === 'claude-code') {
    const text = [
      `claude mcp add --transport http portico "${url}" \\`,
      `  --header "Authorization: Bearer ${shellToken}"`,
    ].join('\n');
    return { title: 'Claude Code', text };
  }
  const { format, servers, toEntry }: HostEntry = HOST_ENTRIES[client];
  const portico = toEntry(url, authorization);
  const text =
    format === 'toml'
      ? toTomlTable([servers, 'portico'], portico).trimEnd()
      : toJson({ [servers]: { portico } });
  return { title: TITLES[client], text };
}

/** One stateless request of protocol 2026-07-28 that lists the tools. */
function toCurl(origin: string, shellToken: string): string {
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
  return [
    `curl -s ${origin}/mcp \\`,
    `  -H "Authorization: Bearer ${shellToken}" \\`,
    `  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\`,
    `  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

/** JSON with what fits on a line on one line. */
function toJson(value: unknown, indentation = ''): string {
  const spread = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  const isLeaf = typeof value !== 'object' || value === null;
  const isFlat = isLeaf || Object.values(value).every(part => typeof part !== 'object');
  if (isFlat && indentation.length + spread.length <= LINE_LENGTH) return spread;
  const inner = `${indentation}  `;
  const lines = Object.entries(value as object).map(
    ([key, part]) =>
      `${inner}${Array.isArray(value) ? '' : `${JSON.stringify(key)}: `}${toJson(part, inner)}`,
  );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indentation}${close}`;
}
