/**
 * Ready-to-paste configuration of the clients that people have, for the gateway itself. Pure text: an address and a token, or a
 * place for one, go in. Hosts that hand tool names to a model get `?names=underscore`, the style that all of them accept.
 */

export const CLIENTS = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'windsurf',
  'cline',
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
  const headers = { Authorization: authorization };
  const json = (title: string, value: unknown) => ({ title, text: toJson(value) });
  switch (client) {
    case 'claude-code':
      return {
        title: 'Claude Code',
        text: [
          `claude mcp add --transport http portico "${url}" \\`,
          `  --header "Authorization: Bearer ${shellToken}"`,
        ].join('\n'),
      };
    case 'claude-desktop': {
      const args = ['-y', 'mcp-remote', url, '--header', 'Authorization:${AUTH_HEADER}'];
      const portico = { command: 'npx', args, env: { AUTH_HEADER: authorization } };
      return json('Claude Desktop (claude_desktop_config.json)', { mcpServers: { portico } });
    }
    case 'cursor':
      return json('Cursor (.cursor/mcp.json)', { mcpServers: { portico: { url, headers } } });
    case 'vscode': {
      const portico = { type: 'http', url, headers };
      return json('VS Code (.vscode/mcp.json)', { servers: { portico } });
    }
    case 'windsurf': {
      const portico = { serverUrl: url, headers };
      return json('Windsurf (mcp_config.json)', { mcpServers: { portico } });
    }
    case 'cline': {
      const portico = { type: 'streamableHttp', url, headers };
      return json('Cline (cline_mcp_settings.json)', { mcpServers: { portico } });
    }
    case 'zed':
      return json('Zed (settings.json)', { context_servers: { portico: { url, headers } } });
    case 'gemini-cli': {
      const portico = { httpUrl: url, headers };
      return json('Gemini CLI (.gemini/settings.json)', { mcpServers: { portico } });
    }
    case 'curl':
      return { title: 'curl', text: toCurl(origin, shellToken) };
  }
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
