/**
 * Ready-to-paste configuration for the clients that people have. Pure text: an address and a token in, titled snippets
 * out. Hosts that hand tool names to a model get `?names=underscore`, the style that all of them accept.
 */

export interface Snippet {
  title: string;
  text: string;
}

/** Name of the shell variable that the snippets use where the token itself is not shown. */
export const TOKEN_VARIABLE = 'PORTICO_TOKEN';

/** Longest line of a JSON snippet that holds more than one value. */
const LINE_LENGTH = 110;

/**
 * The snippets for a gateway.
 * @param origin without a slash at its end
 * @param token the token, or undefined to leave a place for it
 */
export function createSnippets(origin: string, token: string | undefined): Snippet[] {
  const hostUrl = `${origin}/mcp?names=underscore`;
  const shellToken = token ?? `$${TOKEN_VARIABLE}`;
  const authorization = `Bearer ${token ?? 'YOUR_TOKEN'}`;
  const headers = { Authorization: authorization };
  return [
    {
      title: 'Claude Code',
      text: [
        `claude mcp add --transport http portico "${hostUrl}" \\`,
        `  --header "Authorization: Bearer ${shellToken}"`,
      ].join('\n'),
    },
    {
      title: 'Claude Desktop (claude_desktop_config.json)',
      text: toJson({
        mcpServers: {
          portico: {
            command: 'npx',
            args: ['-y', 'mcp-remote', hostUrl, '--header', 'Authorization:${PORTICO_AUTH}'],
            env: { PORTICO_AUTH: authorization },
          },
        },
      }),
    },
    {
      title: 'Cursor (.cursor/mcp.json)',
      text: toJson({ mcpServers: { portico: { url: hostUrl, headers } } }),
    },
    {
      title: 'VS Code (.vscode/mcp.json)',
      text: toJson({ servers: { portico: { type: 'http', url: hostUrl, headers } } }),
    },
    { title: 'curl', text: toCurl(origin, shellToken) },
  ];
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
