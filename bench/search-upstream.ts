/**
 * The upstream of the search benchmark: a modern MCP server whose catalog is generated from the path, `/{server}/{count}`: equal tools for
 * an equal path. Takes a port, else any. Ends by itself when the process that forked it is gone.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const VERBS =
  'list get create update delete search export import archive share copy move merge send read'.split(
    ' ',
  );
const THINGS =
  'issue repository branch message channel invoice payment customer order ticket calendar event document page table row file folder image video contact campaign report dashboard alert deployment container secret policy role'.split(
    ' ',
  );
const PLACES =
  'workspace project team account region organisation board space cluster database'.split(' ');
const PURPOSES = [
  'Use it before anything is changed.',
  'The answer names each of them with its state.',
  'Only those that the account may see are considered.',
  'Large answers come in pages, with a cursor for the next.',
  'Dates are in UTC, amounts in the smallest unit of the currency.',
];
const MAX_BODY_CHARS = 100_000;

function pick<T>(values: readonly T[], at: number): T {
  const value = values[at % values.length];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** Generates one tool; all tools of a server differ, and no two servers have the same. */
function toTool(server: number, index: number): object {
  const [verb, thing, place] = [
    pick(VERBS, index),
    pick(THINGS, Math.floor(index / VERBS.length) + server),
    pick(PLACES, Math.floor(index / (VERBS.length * THINGS.length)) + server * 3 + index),
  ];
  return {
    name: `${verb}_${thing}_${place}_${index}`,
    title: `${verb} ${thing}`,
    description: `Lets you ${verb} a ${thing} in the ${place} of account ${server}. ${pick(PURPOSES, index + server)} ${pick(PURPOSES, index * 3 + 1)}`,
    inputSchema: {
      type: 'object',
      properties: {
        [`${thing}_id`]: { type: 'string', description: `Which ${thing} it is` },
        [place]: { type: 'string', description: `The ${place} that holds it` },
        limit: { type: 'integer', description: 'How many at most' },
      },
      required: [place],
    },
    annotations: { readOnlyHint: index % 3 === 0 },
  };
}

function toResult(method: string, url: string): object {
  const common = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' };
  if (method === 'server/discover') {
    return { ...common, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  }
  const [server = 0, count = 0] = url.split('/').slice(1).map(Number);
  const tools = Array.from({ length: count }, (_, index) => toTool(server, index));
  return method === 'tools/list' ? { ...common, tools } : { ...common, content: [] };
}

const server = createServer((request, response) => {
  // A client that got no answer in time tries an older protocol.
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
    if (body.length > MAX_BODY_CHARS) request.destroy();
  });
  request.on('end', () => {
    const { id, method } = JSON.parse(body) as { id?: unknown; method: string };
    const result = toResult(method, request.url ?? '/');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
