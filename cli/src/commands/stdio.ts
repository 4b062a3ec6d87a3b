/** `portico stdio`: a stdio MCP server in front of a gateway, for hosts that only support stdio. */
import type { Command } from 'commander';
import {
  addGatewayOptions,
  readTarget,
  toMcpUrl,
  type GatewayOptions,
} from '../gateway-options.ts';
import { serveStdio } from '../stdio/serve.ts';

const HELP = `
A host starts it like any stdio server:

  {"mcpServers": {"portico": {
    "command": "portico",
    "args": ["stdio", "--url", "https://portico.example.com/mcp"],
    "env": {"PORTICO_TOKEN": "portico_…"}}}}

Without a token it uses the login of portico login, and renews it. The URL may
end in /mcp, /mcp/servers/{server} or /mcp/toolsets/{toolset}; ?names=underscore
gives tool names that every host accepts. It speaks the protocol revision of the
host.

Examples:
  PORTICO_TOKEN=portico_… portico stdio
  portico stdio --url http://127.0.0.1:8787/mcp/servers/github \\
    --token-file ~/.portico-token`;

/** Adds `stdio`. */
export function addStdio(program: Command): void {
  addGatewayOptions(program.command('stdio'))
    .summary('act as a stdio MCP server in front of the gateway')
    .description('Act as a stdio MCP server that relays messages between a host and the gateway.')
    .addHelpText('after', HELP)
    .action((options: GatewayOptions) => runStdio(options));
}

async function runStdio(options: GatewayOptions): Promise<void> {
  const { url, token } = readTarget(options);
  await serveStdio(toMcpUrl(url), token, 'portico stdio');
  // The host will not read output that it has not read by now, so do not wait for it.
  process.exit(0);
}
