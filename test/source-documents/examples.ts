/** The aggregator stories' examples: what is sent, what is answered, the states and the errors; and what else they require. */
import type { DocumentLine, SourceDocument } from './document.ts';

/** Requests, answers, states and errors. */
export const EXAMPLE_LINES = [
  { id: 'S1', says: 'registration: `POST /api/v1/aggregator/servers` with the seven members' },
  {
    id: 'S2',
    says: 'its answer: `id`, `name`, `status: "CONNECTING"`, `transport_type`, `registered_at`',
  },
  {
    id: 'S3',
    says: '`"headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}` before that secret is there',
  },
  { id: 'S4', says: 'search: `query`, `include_external`, `server_filter`, `limit`' },
  {
    id: 'S5',
    says: 'a hit has `id: "1"`',
    does: 'the id of its server and its name there',
    why: 'it is the same in every answer',
  },
  { id: 'S6', says: '`name`, `original_name`, `description`, and a `score` of 0 to 1' },
  { id: 'S7', says: '`source_server` with `id`, `name` and `status: "CONNECTED"`' },
  {
    id: 'S8',
    says: '`skill_ids` of `code_management` and `issue_tracking`, `primary_skill_id: "issue_tracking"`',
  },
  { id: 'S9', says: '`metadata` with `servers_searched: 2` and `total_tools_searched`' },
  { id: 'S10', says: 'a call: `name: "github-mcp.create_issue"` and three arguments' },
  { id: 'S11', says: 'its answer: `content` with one text, `isError: false`' },
  {
    id: 'S12',
    says: '`metadata` with `routed_to`, `routing_time_ms` and `execution_time_ms`',
  },
  { id: 'S13', says: 'CONNECTED: connected and healthy' },
  { id: 'S14', says: 'DEGRADED: connected, with elevated errors' },
  { id: 'S15', says: 'DISCONNECTED: taken down on purpose' },
  { id: 'S16', says: 'ERROR: it cannot be reached, or fails its checks' },
  { id: 'S17', says: 'CONNECTING: on its way' },
  { id: 'S18', says: 'connect: `{"status": "CONNECTING", "message": "Connection initiated"}`' },
  { id: 'S19', says: 'disconnect: `{"status": "DISCONNECTED", "pending_requests": 0}`' },
  { id: 'S20', says: '422 Validation Error, with the fields that are missing' },
  { id: 'S21', says: '409 Conflict for a name that is taken' },
  { id: 'S22', says: '503 Service Unavailable, with the server' },
  { id: 'S23', says: '404 Not Found for a tool that nobody has' },
  { id: 'S24', says: '`create_issue` of github-mcp and of gitlab-mcp are two tools' },
  {
    id: 'S25',
    says: 'classification: the LLM hears name and description, and search finds the skill',
  },
  {
    id: 'S26',
    says: 'a STDIO server with its command is registered',
    does: 'over REST it is refused, with a hint; `portico up` and `portico connect` run programs',
    why: 'who may write to the registry must not start programs on a machine: only its owner may',
  },
  {
    id: 'S27',
    says: 'NFR-R4: no message is lost while a server is away',
    does: 'a call then fails at once, and its caller knows that nothing was done',
    why: 'a call that is kept and made later might be made twice, or when nobody wants it any more',
  },
  { id: 'S28', says: 'NFR-R3: others are not affected by one failure' },
  { id: 'S29', says: 'NFR-SEC1: credentials are encrypted at rest' },
  { id: 'S30', says: 'NFR-SEC4: all that is done to servers is in the audit' },
] as const satisfies readonly DocumentLine[];

/** Requirements that need servers of their own. */
export const NEED_LINES = [
  { id: 'S31', says: 'NFR-SEC2: SSE and HTTP are encrypted, with TLS 1.2 or later' },
  { id: 'S32', says: 'NFR-SEC3: OAuth tokens are replaced by themselves before they expire' },
  {
    id: 'S33',
    says: 'NFR-R1: each connection is up more than 99.9 % of the time',
    does: 'no share is promised; whether each server is up is a metric, `portico_server_up`',
    why: 'how long a server is up is up to who runs it; the metric shows whether it was enough',
  },
] as const satisfies readonly DocumentLine[];

/** Numbers, and what goes with them. */
export const NUMBER_LINES = [
  { id: 'S34', says: 'more than 95 % of tools are classified' },
  { id: 'S35', says: 'NFR-P2, NFR-S2: a server with 1,000 tools is discovered within 5 seconds' },
  { id: 'S36', says: 'NFR-S1: 20 servers at the same time' },
  { id: 'S37', says: 'NFR-R2: more than 95 % of servers that were away are connected again' },
  { id: 'S38', says: 'NFR-S3: 10,000 tools of all servers are searched' },
  { id: 'S39', says: 'NFR-S4: 100 calls in a second' },
  {
    id: 'S40',
    says: 'quality gates: tests cover 80 % of the logic, 70 % of components',
    does: 'the share of changes to the source that a test notices is measured: `docs/mutation.md`',
    why: 'a line that ran in a test was not checked by that',
  },
  {
    id: 'S41',
    says: 'out of scope: tools are not changed, not chained, not sorted by rules of one’s own',
    does: 'a toolset describes tools anew, a chat chains them, people correct their skills',
    why: 'later decisions; a gateway without toolsets and chats does none of it',
  },
] as const satisfies readonly DocumentLine[];

export type NumberLine = (typeof NUMBER_LINES)[number]['id'];
export type ExampleLine = (typeof EXAMPLE_LINES)[number]['id'];
export type NeedLine = (typeof NEED_LINES)[number]['id'];

export const EXAMPLES: SourceDocument = {
  title: 'MCP Server Aggregator, its examples',
  asked:
    'Asked with its requests to the letter, but for the addresses, of its server over SSE and another, with a model that classifies.',
  tests: [
    'test/e2e/documents/stories-examples.test.ts',
    'test/e2e/documents/stories-needs.test.ts',
    'test/e2e/documents/stories-numbers.test.ts',
  ],
  lines: [...EXAMPLE_LINES, ...NEED_LINES, ...NUMBER_LINES],
};
