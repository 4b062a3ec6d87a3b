/** `portico search`: asks the gateway for the tools that best match a description. */
import type { Command } from 'commander';
import { MAX_FOUND, USUAL_FOUND } from '../../../src/search/rank/limits.ts';
import { again } from '../again.ts';
import { EXIT, Failure } from '../failure.ts';
import { addGatewayOptions, readTarget, type GatewayOptions } from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import { note, writeJson, writeTable } from '../terminal.ts';

interface Options extends GatewayOptions {
  json?: boolean;
  limit: string;
  server?: string[];
  skill?: string;
  readOnly?: boolean;
}

/** The fields of the response that are shown here. */
interface Found {
  tools: { name: string; description: string; score: number }[];
  metadata: { servers_searched: number; total_tools_searched: number };
}

const HELP = `
Say in any words what the tool should do. Scores are from 0 to 1.

Examples:
  portico search create an issue
  portico search 'send a message to a channel' --limit 3
  portico search 'open pull requests' --server github --read-only
  portico search 'book a room' --json | jq -r '.tools[0].name'`;

/** Adds `search`. */
export function addSearch(program: Command): void {
  addGatewayOptions(program.command('search'))
    .argument('<words...>', 'what the tool should do')
    .summary('find tools by what they do')
    .description('Find tools by what they do.')
    .option('--limit <count>', `maximum number of tools, up to ${MAX_FOUND}`, String(USUAL_FOUND))
    .option('--server <name>', 'only tools of this server; may be repeated', again)
    .option('--skill <id>', 'only tools of this skill')
    .option('--read-only', 'only tools that are annotated read-only')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(searchTools);
}

async function searchTools(words: string[], options: Options): Promise<void> {
  const { url, token } = readTarget(options);
  const { server, skill, readOnly } = options;
  const found = await new Api(url, token).post<Found>('/api/v1/search', {
    query: words.join(' '),
    limit: readLimit(options.limit),
    ...(server ? { server_filter: server } : {}),
    ...(skill === undefined ? {} : { skill }),
    ...(readOnly ? { read_only: true } : {}),
  });
  if (options.json) return writeJson(found);
  const { tools, metadata } = found;
  if (tools.length === 0) {
    const { total_tools_searched: tried, servers_searched: servers } = metadata;
    return note(`none of ${count(tried, 'tool')} of ${count(servers, 'server')} fits`);
  }
  const rows = tools.map(({ score, name, description }) => [score.toFixed(2), name, description]);
  await writeTable(['SCORE', 'NAME', 'DESCRIPTION'], rows);
}

/** @throws Failure */
function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= 1 && limit <= MAX_FOUND) return limit;
  throw new Failure(`--limit must be a number from 1 to ${MAX_FOUND}`, EXIT.usage);
}

const count = (number: number, thing: string) => `${number} ${thing}${number === 1 ? '' : 's'}`;
