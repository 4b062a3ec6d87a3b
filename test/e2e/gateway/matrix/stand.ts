/**
 * The set-up for the probes of the matrix, started once: one gateway, two upstreams of each kind (the conformance fixture and the rich one;
 * programs behind one connector), a dead one beside them, and a client of each kind. `eachCell` turns a probe into a test for each cell
 * that its title names, so that no title claims a cell in which the probe did not run.
 */
import { afterAll, beforeAll, it } from 'vitest';
import { findFreePort, startFixture } from '../../../fixtures/start-fixture.ts';
import type { FixtureName } from '../../../fixtures/start-fixture.ts';
import { CLIENTS, readTags, toCellName } from '../../../protocol/cells.ts';
import type { ClientKind, UpstreamKind } from '../../../protocol/cells.ts';
import { connectPrograms, fixtureProgram } from '../../support/connected.ts';
import { startGateway, TRUSTED } from '../../support/gateway.ts';
import type { Gateway } from '../../support/gateway.ts';
import { connectors } from './clients.ts';
import type { Json, MatrixClient } from './clients.ts';
import { way } from './way.ts';

/** One process for all kinds of clients, so that a list change by one is notified to the others. */
const ONE_PROCESS = { capabilities: ['roots', 'sampling', 'elicitation'] };

/** Less than the number of tools, so that every list of them is paged. */
export const PAGE_SIZE = 60;
/** A server that does not run. */
export const DEAD = 'dead';

/** A cell with its peers. */
export interface Place {
  client: MatrixClient;
  upstream: UpstreamKind;
  /** Whether its server is of 2026-07-28. */
  isModernServer: boolean;
  gateway: Gateway;
  /** Qualified name of a tool or a prompt of the conformance fixture. */
  of(name: string): string;
  /** Qualified name of a tool of the rich fixture. */
  rich(name: string): string;
  /** Qualified URI of a resource of the conformance fixture. */
  uriOf(uri: string): string;
  /** Opens a client of the cell's kind at the endpoint of one server; the caller closes it. */
  alone(server: string): Promise<MatrixClient>;
  /** Calls a tool of the conformance fixture as another client. */
  trigger(name: string): Promise<void>;
  /** Returns the whole list, page by page. */
  list<Item = Json>(method: string, member: string): Promise<Item[][]>;
  /** Calls a tool. */
  call(name: string, given?: object, more?: object, signal?: AbortSignal): Promise<ToolResult>;
}

export interface ToolResult {
  content: { type: string; text?: string; [key: string]: unknown }[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

let gateway: Gateway;
const clients = {} as Record<ClientKind, MatrixClient>;

async function register(name: string, fixture: FixtureName, path: string, options = {}) {
  const { origin } = await startFixture(fixture, options);
  const transport_type = path === '/sse' ? 'SSE' : 'HTTP';
  await gateway.register(name, `${origin}${path}`, { transport_type, ...TRUSTED });
}

const where = () => ({
  origin: gateway.origin,
  token: gateway.adminToken,
  query: way.isThrough ? '?tools=search' : '',
});

async function listPages<Item>(
  client: MatrixClient,
  method: string,
  member: string,
): Promise<Item[][]> {
  const pages: Item[][] = [];
  let cursor: unknown;
  do {
    const result = await client.request(method, cursor === undefined ? {} : { cursor });
    pages.push(result[member] as Item[]);
    cursor = result['nextCursor'];
  } while (cursor !== undefined);
  return pages;
}

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      PORTICO_PAGE_SIZE: String(PAGE_SIZE),
      PORTICO_KEEP_ALIVE_MS: '1000',
      // A change is notified by its server, or not noticed: no discovery runs.
      PORTICO_DISCOVERY_INTERVAL_MS: '3600000',
    },
  });
  await Promise.all([
    register('legacy', 'conformance-legacy', '/mcp'),
    register('sse', 'conformance-legacy', '/sse'),
    register('modern', 'conformance-modern', '/mcp', { era: 'modern' }),
    register('rich-legacy', 'rich-legacy', '/mcp'),
    register('rich-sse', 'rich-sse', '/sse'),
    register('rich-modern', 'rich-modern', '/mcp'),
  ]);
  await connectPrograms(
    gateway,
    'this-machine',
    {
      stdio: { ...fixtureProgram('conformance-stdio.ts', '--sdk', '1'), portico: ONE_PROCESS },
      'stdio-modern': {
        ...fixtureProgram('conformance-stdio.ts', '--sdk', '2'),
        portico: { era: 'modern' },
      },
      'rich-stdio': fixtureProgram('rich-stdio.ts', '--sdk', '1'),
      'rich-stdio-modern': fixtureProgram('rich-stdio.ts', '--sdk', '2'),
    },
    { settings: TRUSTED },
  );
  const { status, text } = await gateway.api('POST', '/api/v1/aggregator/servers', {
    name: DEAD,
    transport_type: 'HTTP',
    connection_config: { url: `http://127.0.0.1:${await findFreePort()}/mcp` },
    auto_connect: true,
  });
  if (status !== 201) throw new Error(text);
  for (const kind of CLIENTS) clients[kind] = await connectors[kind](where());
}, 300_000);

afterAll(async () => {
  await Promise.allSettled(Object.values(clients).map(client => client.close()));
  await gateway?.stop();
});

/** Runs a probe in each cell that its title names. All features of a title have the same cells. */
export function eachCell(title: string, probe: (place: Place) => Promise<void>): void {
  const tags = readTags(title);
  const [cells = [], ...rest] = tags.map(tag => tag.cells);
  const names = cells.map(toCellName).join();
  if (names === '') throw new Error(`${title} names no cell`);
  if (rest.some(other => other.map(toCellName).join() !== names)) {
    throw new Error(`${title} names different cells, but runs in one set of them`);
  }
  const plain = title.replaceAll(/\{([^{}:]+):[^{}]+\}/g, '{$1}');
  const how = way.isThrough ? '[FIND-2] through call_tool: ' : '';
  it.each(cells.map(cell => [toCellName(cell), cell] as const))(
    `%s: ${how}${plain.replaceAll('%', '%%')}`,
    async (_name, cell) => {
      const client = clients[cell.client];
      client.heard.length = 0;
      client.asked.length = 0;
      const { upstream } = cell;
      await probe({
        client,
        upstream,
        isModernServer: upstream.endsWith('modern'),
        gateway,
        of: name => `${upstream}.${name}`,
        rich: name => `rich-${upstream}.${name}`,
        uriOf: uri => `${upstream}+${uri}`,
        alone: server => connectors[cell.client]({ ...where(), server }),
        trigger: async tool => {
          const body = { name: `${upstream}.${tool}`, arguments: {} };
          const { status, text } = await gateway.api('POST', '/api/v1/tools/call', body);
          if (status !== 200) throw new Error(text);
        },
        list: (method, member) => listPages(client, method, member),
        call: async (name, given = {}, more = {}, signal) => {
          const asked = { name, arguments: given };
          const called = way.isThrough ? { name: 'call_tool', arguments: asked } : asked;
          const result = await client.request('tools/call', { ...called, ...more }, signal);
          return result as unknown as ToolResult;
        },
      });
    },
  );
}

/** Returns the first text of a result. */
export const textOf = ({ content }: ToolResult): string => content[0]?.text ?? '';
