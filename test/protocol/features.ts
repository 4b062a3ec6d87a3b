/**
 * The manifest of the protocol table: every method and feature of MCP, with the requirements it belongs to. Each cell is either proven by
 * the title of a test (for the tag see `cells.ts`) or listed here: under `none`, with the reason that the specification gives, or under
 * `missing`, with what is not built. The gate (`test/unit/gates/protocol.test.ts`) refuses a cell that is both or neither.
 */

/** Cells that no test proves, with the reason. */
export type Absence = readonly [cells: string, reason: string];

export interface Feature {
  /** The name in a tag and in the table. */
  readonly id: string;
  readonly requirements: readonly string[];
  /** Cells in which the protocol does not have the feature. */
  readonly none?: readonly Absence[];
  /** Cells in which the protocol has the feature and Portico does not. */
  readonly missing?: readonly Absence[];
}

const notModernClient = (reason: string): readonly Absence[] => [['modern > *', reason]];
const modernClientsOnly: readonly Absence[] = [
  ['legacy, sse > *', 'only clients of 2026-07-28 have it'],
];
const asRequests = 'a server of 2026-07-28 puts its requests into a result and cannot cancel them';
const notModernServer: Absence = ['* > modern, stdio-modern', asRequests];
const noHeaders: Absence = ['* > stdio, stdio-modern', 'stdio has no headers'];

/** All features, in the order of the table. */
export const features: readonly Feature[] = [
  {
    id: 'initialize',
    requirements: ['MCP-1', 'MCP-2'],
    none: notModernClient('2026-07-28 has no handshake'),
  },
  { id: 'server/discover', requirements: ['MCP-1'], none: modernClientsOnly },
  {
    id: 'ping',
    requirements: ['MCP-1', 'MCP-2'],
    none: notModernClient('removed in 2026-07-28'),
  },
  {
    id: 'session at the server',
    requirements: ['MCP-10', 'UP-2'],
    none: [
      ['* > modern, stdio-modern', '2026-07-28 has no sessions'],
      ['* > stdio', 'a process of a stdio server is one session, shared by all its callers'],
      [
        'modern > sse',
        'no session is kept: each call has its own connection, so that server requests belong to one call',
      ],
    ],
  },
  { id: 'extensions in the capabilities', requirements: ['MCP-4'] },
  { id: 'a dead server beside', requirements: ['MCP-12'] },

  { id: 'tools/list', requirements: ['MCP-3', 'MCP-8'] },
  { id: 'tools/call', requirements: ['MCP-5', 'MCP-7'] },
  { id: 'content of every type', requirements: ['MCP-7'] },
  { id: 'structuredContent', requirements: ['MCP-4', 'MCP-7'] },
  { id: 'arguments as sent', requirements: ['MCP-7'] },
  { id: 'errors as sent', requirements: ['MCP-7'] },
  { id: 'unknown names', requirements: ['MCP-9'] },
  { id: 'annotations', requirements: ['MCP-4'] },
  { id: 'icons', requirements: ['MCP-4'] },
  { id: '_meta', requirements: ['MCP-4'] },
  { id: 'trace context', requirements: ['MCP-4'] },
  { id: 'pagination', requirements: ['MCP-4'] },

  { id: 'resources/list', requirements: ['MCP-4'] },
  { id: 'resources/templates/list', requirements: ['MCP-4'] },
  { id: 'resources/read', requirements: ['MCP-4'] },
  {
    id: 'resources/subscribe',
    requirements: ['MCP-4'],
    none: notModernClient('2026-07-28 has subscriptions/listen instead'),
  },
  { id: 'notifications/resources/updated', requirements: ['MCP-4'] },
  { id: 'subscriptions/listen', requirements: ['MCP-4'], none: modernClientsOnly },
  { id: 'prompts/list', requirements: ['MCP-4'] },
  { id: 'prompts/get', requirements: ['MCP-4'] },
  { id: 'completion/complete', requirements: ['MCP-4'] },

  { id: 'progress', requirements: ['MCP-4', 'UP-3'] },
  { id: 'cancellation by the client', requirements: ['MCP-4', 'UP-3'] },
  {
    id: 'cancellation by the server',
    requirements: ['MCP-4'],
    none: [
      ['modern > legacy, sse, stdio', 'a client of 2026-07-28 gets server requests in a result'],
      notModernServer,
    ],
  },
  {
    id: 'logging/setLevel',
    requirements: ['MCP-4'],
    none: notModernClient('2026-07-28 has the log level in _meta instead'),
  },
  {
    id: 'log level in _meta',
    requirements: ['MCP-4'],
    none: modernClientsOnly,
  },
  { id: 'notifications/message', requirements: ['MCP-4'] },
  { id: 'notifications/tools/list_changed', requirements: ['MCP-4', 'REG-5'] },
  { id: 'notifications/prompts/list_changed', requirements: ['MCP-4', 'REG-5'] },
  { id: 'notifications/resources/list_changed', requirements: ['MCP-4', 'REG-5'] },

  { id: 'sampling/createMessage', requirements: ['MCP-4', 'MCP-5'] },
  { id: 'elicitation/create, form', requirements: ['MCP-4', 'MCP-5'] },
  { id: 'elicitation/create, URL', requirements: ['MCP-4', 'MCP-5'] },
  {
    id: 'notifications/elicitation/complete',
    requirements: ['MCP-4'],
    none: [
      ['modern > legacy, sse, stdio', 'removed in 2026-07-28'],
      ['* > modern, stdio-modern', 'removed in 2026-07-28'],
    ],
  },
  { id: 'roots/list', requirements: ['MCP-4', 'MCP-5'] },
  {
    id: 'notifications/roots/list_changed',
    requirements: ['MCP-4'],
    none: [
      ['modern > *', 'removed in 2026-07-28'],
      ['legacy, sse > modern, stdio-modern', 'removed in 2026-07-28'],
    ],
    missing: [
      [
        'legacy, sse > legacy, sse, stdio',
        'the capability `roots.listChanged` is optional (2025-11-25, Roots) and Portico does not declare it to servers; they send `roots/list` in each call',
      ],
    ],
  },
  { id: 'several questions at once', requirements: ['MCP-4', 'MCP-5'] },
  { id: 'multi round-trip requests', requirements: ['MCP-4', 'MCP-5'] },

  {
    id: 'Last-Event-ID',
    requirements: ['MCP-11'],
    none: [
      ['sse > *', 'HTTP+SSE has no event ids: its session ends with its stream'],
      ['modern > *', 'removed in 2026-07-28'],
    ],
  },
  {
    id: 'Last-Event-ID at the server',
    requirements: ['MCP-11', 'UP-2'],
    none: [
      ['* > sse', 'HTTP+SSE has no event ids: its session ends with its stream'],
      ['* > modern', 'removed in 2026-07-28'],
      ['* > stdio, stdio-modern', 'stdio has no streams that can break while the process runs'],
    ],
  },
  { id: 'Mcp-Method, Mcp-Name, checked', requirements: ['MCP-1'], none: modernClientsOnly },
  {
    id: 'Mcp-Method, Mcp-Name, written',
    requirements: ['MCP-1'],
    none: [['* > legacy, sse', 'only servers of 2026-07-28 have them'], noHeaders],
  },
  { id: 'Mcp-Param-*, checked', requirements: ['MCP-4'], none: modernClientsOnly },
  {
    id: 'Mcp-Param-*, written',
    requirements: ['MCP-4'],
    none: [['* > legacy, sse', 'only servers of 2026-07-28 have them'], noHeaders],
  },
  { id: 'ttlMs, cacheScope', requirements: ['MCP-4'], none: modernClientsOnly },

  { id: 'io.modelcontextprotocol/ui', requirements: ['MCP-4'] },
  {
    id: 'io.modelcontextprotocol/tasks',
    requirements: ['MCP-4'],
    none: [
      ['legacy, sse > *', 'clients declare it with each request, which only 2026-07-28 allows'],
      ['modern > legacy, sse, stdio', 'a server of the legacy era cannot offer the extension'],
    ],
  },
  {
    id: 'tasks of 2025-11-25 (experimental)',
    requirements: ['MCP-4'],
    none: [
      ['modern > *', 'moved into an extension in 2026-07-28'],
      ['legacy, sse > modern, stdio-modern', 'moved into an extension in 2026-07-28'],
    ],
  },
];
