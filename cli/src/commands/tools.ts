/** `portico tools`: lists the tools that a token may use, and shows the parameters of one. */
import type { Command } from 'commander';
import { describeTool } from '../call/describe.ts';
import {
  addGatewayOptions,
  readTarget,
  toFullListUrl,
  type GatewayOptions,
} from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import { findHeldNote } from '../gateway/approvals.ts';
import { findTool } from '../gateway/find-tool.ts';
import { Mcp } from '../gateway/mcp.ts';
import { note, outputColumns, writeJson, writeOut, writeTable } from '../terminal.ts';

interface Options extends GatewayOptions {
  json?: boolean;
  schema?: string;
}

const HELP = `
With --url …/mcp/servers/{server} or …/mcp/toolsets/{toolset} it lists the tools
of that endpoint, under the names that they have there.

Examples:
  portico tools
  portico tools issue
  portico tools --schema github.create_issue
  portico tools --json | jq -r '.[].name'`;

/** Adds `tools`. */
export function addTools(program: Command): void {
  addGatewayOptions(program.command('tools'))
    .argument('[filter]', 'only tools with this text in the name, title or description')
    .summary('list tools, or show the parameters of one')
    .description('List the tools behind the gateway, or show the parameters of one.')
    .option('--schema <tool>', 'show one tool and its parameters')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(showTools);
}

async function showTools(filter: string | undefined, options: Options): Promise<void> {
  const { url, token } = readTarget(options);
  const tools = await new Mcp(toFullListUrl(url), token).listTools();
  if (options.schema !== undefined) {
    const tool = findTool(tools, options.schema);
    return options.json ? writeJson(tool) : writeOut(describeTool(tool, outputColumns()));
  }
  const word = filter?.toLowerCase() ?? '';
  const found = tools.filter(({ name, title = '', description = '' }) =>
    [name, title, description].some(text => String(text).toLowerCase().includes(word)),
  );
  if (options.json) return writeJson(found);
  const held = await findHeldNote(new Api(url, token));
  if (held !== undefined) note(held);
  if (found.length === 0) return note(word === '' ? 'no tools yet' : `no tool matches '${word}'`);
  const rows = found.map(({ name, title, description }) => [
    name,
    String(description ?? title ?? ''),
  ]);
  await writeTable(['NAME', 'DESCRIPTION'], rows);
}
