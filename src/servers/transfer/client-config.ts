/**
 * Ready-to-paste configurations of common clients, for the gateway itself. Pure text. The access is a token, a placeholder for one, or
 * nothing for clients that sign their user in. Hosts that pass tool names to a model get `?names=underscore`, the style that all of them
 * accept.
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
  /** Title for people, with the file that the text belongs in. */
  title: string;
  text: string;
}

/** Shell variable that stands for a token that is not shown. */
export const TOKEN_VARIABLE = 'PORTICO_TOKEN';

/** The gateway's name in a client. */
const SERVER_NAME = 'portico';

const TITLES: Readonly<Record<Host | 'curl', string>> = {
  'claude-code': 'Claude Code',
  'claude-desktop': 'Claude Desktop (claude_desktop_config.json)',
  cursor: 'Cursor (.cursor/mcp.json)',
  vscode: 'VS Code (.vscode/mcp.json)',
  windsurf: 'Windsurf (mcp_config.json)',
  cline: 'Cline (cline_mcp_settings.json)',
  codex: 'Codex (.codex/config.toml)',
  zed: 'Zed (settings.json)',
  'gemini-cli': 'Gemini CLI (.gemini/settings.json)',
  curl: 'curl',
};

/** Longest line of JSON with more than one value. */
const LINE_LENGTH = 110;

/** How a client authenticates: with a token, with a placeholder for one if it is undefined, or by signing its user in with a browser. */
export type ClientAccess = { token: string | undefined } | 'sign-in';

/**
 * Returns the configuration for one client.
 * @param origin without a trailing slash
 * @param token the token, or undefined for a placeholder
 */
export function toClientConfig(
  client: Client,
  origin: string,
  token: string | undefined,
): ClientConfig {
  const url = `${origin}/mcp${client === 'curl' ? '' : '?names=underscore'}`;
  return { title: TITLES[client], text: toClientText(client, url, { token }) };
}

/** Title for people, with the file that the text belongs in. */
export const titleOf = (client: Client): string => TITLES[client];

/** Returns the configuration for one client and any URL of the gateway that it can connect to. */
export function toClientText(client: Client, url: string, access: ClientAccess): string {
  const isSignIn = access === 'sign-in';
  const shellToken = isSignIn ? undefined : (access.token ?? `$${TOKEN_VARIABLE}`);
  if (client === 'curl') return toCurl(url, shellToken ?? `$${TOKEN_VARIABLE}`);
  if (client === 'claude-code') {
    const command = `claude mcp add --transport http ${SERVER_NAME} "${url}"`;
    if (shellToken === undefined) return command;
    return `${command} \\\n  --header "Authorization: Bearer ${shellToken}"`;
  }
  const authorization = isSignIn ? undefined : `Bearer ${access.token ?? 'YOUR_TOKEN'}`;
  const { format, servers, toEntry }: HostEntry = HOST_ENTRIES[client];
  const portico = toEntry(url, authorization);
  return format === 'toml'
    ? toTomlTable([servers, SERVER_NAME], portico).trimEnd()
    : toJson({ [servers]: { [SERVER_NAME]: portico } });
}

/**
 * Returns a link with which a client asks its user whether to add the gateway, if the client documents one. It contains no token: links end
 * up in histories and process lists.
 */
export function toInstallLink(client: Client, url: string): string | undefined {
  if (client === 'cursor') {
    const config = btoa(JSON.stringify(HOST_ENTRIES.cursor.toEntry(url)));
    const query = new URLSearchParams({ name: SERVER_NAME, config });
    return `cursor://anysphere.cursor-deeplink/mcp/install?${query}`;
  }
  if (client !== 'vscode') return undefined;
  const entry = { name: SERVER_NAME, ...HOST_ENTRIES.vscode.toEntry(url) };
  return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(entry))}`;
}

/** One stateless request of protocol 2026-07-28 that lists the tools. */
function toCurl(url: string, shellToken: string): string {
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
    `curl -s "${url}" \\`,
    `  -H "Authorization: Bearer ${shellToken}" \\`,
    `  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\`,
    `  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

/** Formats JSON; objects and arrays that fit on one line stay on one line. */
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
