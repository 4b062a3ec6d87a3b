/** Calls of tools through a connector, as the gateway sends them: one modern request, one response that is JSON or a stream. */
import type { Exchange, Link, LinkRequest } from './connector-link.ts';

export interface ToolCall {
  server: string;
  exchange: Exchange;
}

const VERSION = '2026-07-28';

/** Calls a tool of a server. */
export function callTool(
  link: Link,
  server: string,
  name: string,
  args: Record<string, unknown>,
  more: LinkRequest = {},
): ToolCall {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name, arguments: args, _meta: meta };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return { server, exchange: link.request(server, { headers, body, ...more }) };
}

/** Returns the text of a tool's result. */
export async function textOf({ exchange }: ToolCall): Promise<string> {
  const { headers, body } = await exchange.answer;
  const text = body.toString();
  const isStream = headers['content-type']?.startsWith('text/event-stream');
  const lines = text.split('\n').filter(line => line.startsWith('data:'));
  const json = isStream ? (lines.at(-1)?.slice('data:'.length) ?? '') : text;
  const message = JSON.parse(json) as {
    result?: { content: { text: string }[] };
    error?: { message: string };
  };
  if (message.error) throw new Error(message.error.message);
  return message.result?.content[0]?.text ?? '';
}
