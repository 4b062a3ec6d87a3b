/**
 * The manifest of what Portico must do: every requirement and every acceptance criterion of the aggregator stories, with
 * how far it is. A test cites what it proves in its title: `[MCP-8]`, `[AG-US4-AC2]`. The gate
 * (`test/unit/gates/requirements.test.ts`) fails when a `done` id has no test, when a test cites an id that does not
 * exist or that is only `planned`, and when an id is here twice.
 *
 * `started`: a part works and is tested; the rest is named in docs/rough-edges.md or not begun.
 */

/** How far a requirement is. */
export type State = 'done' | 'started' | 'planned';

/** One requirement. */
export interface Requirement {
  readonly id: string;
  /** `MCP`, `UP`, …, or the story: `AG-US1`. */
  readonly area: string;
  readonly state: State;
  /** What it asks, in one line. */
  readonly text: string;
}

const rows: readonly (readonly [id: string, state: State, text: string])[] = [
  // The MCP endpoint
  ['MCP-1', 'done', 'one URL, Streamable HTTP, five revisions, both eras'],
  ['MCP-2', 'done', 'the HTTP+SSE transport for old clients'],
  ['MCP-3', 'done', 'endpoints for everything, for one server, for a toolset'],
  ['MCP-4', 'started', 'the whole protocol passes, extensions too'],
  ['MCP-5', 'done', 'every kind of client with every kind of upstream'],
  ['MCP-6', 'started', 'the official conformance suite, no expected failures'],
  ['MCP-7', 'done', 'arguments, results and errors arrive as they were sent'],
  ['MCP-8', 'done', 'qualified names in every style, reversible'],
  ['MCP-9', 'done', 'unknown names: the right code, hidden looks like unknown'],
  ['MCP-10', 'started', 'legacy sessions: bound, durable, idle expiry, DELETE, 404'],
  ['MCP-11', 'started', 'a broken legacy stream resumes, within bounds'],
  ['MCP-12', 'done', 'a sick upstream harms no other'],

  // Upstreams
  ['UP-1', 'done', 'all transports, the era negotiated once and remembered'],
  ['UP-2', 'done', 'a forgotten session is opened anew, once; nothing is sent twice'],
  ['UP-3', 'started', 'timeouts, progress, a ceiling, cancellation to the upstream'],
  ['UP-4', 'started', 'every way to authenticate at a server'],
  ['UP-5', 'started', 'reconnects, circuit breaker, 20 servers and 10,000 tools'],

  // Registry and lifecycle
  ['REG-1', 'started', 'a server is registered, or every wrong field is named'],
  ['REG-2', 'started', 'servers are shown with status, edited and deleted'],
  ['REG-3', 'started', 'connect and disconnect, gracefully, at run time'],
  ['REG-4', 'done', 'health checks, thresholds and numbers'],
  ['REG-5', 'started', 'discovery: quick, paged, awake to changes, pinned'],
  ['REG-6', 'started', 'mcp.json in all its shapes in, client snippets out'],
  ['REG-7', 'done', 'tools listed by server and called over REST'],
  ['REG-8', 'done', 'an OpenAPI description; errors are problems with codes'],

  // Access
  ['ACC-1', 'done', 'bearer tokens: random, hashed, revoked within a second'],
  ['ACC-2', 'done', 'principals, groups, scopes, and the first admin token'],
  ['ACC-3', 'started', 'access rules, one decision for every way to a tool'],
  ['ACC-4', 'done', 'toolsets with their own names and URL'],
  ['ACC-5', 'done', 'OAuth 2.1 for people who sign in with a browser'],
  ['ACC-6', 'done', 'exact rate limits, and a cheap shield before them'],
  ['ACC-7', 'done', 'people sign in: invitation, OIDC, Access, passkeys, ID-JAG'],
  ['ACC-8', 'done', 'each principal its own account at a server'],
  ['ACC-9', 'started', 'a narrowed token is narrow on every route'],

  // Safety
  ['SEC-1', 'done', 'credentials encrypted at rest, bound, with rotating keys'],
  ['SEC-2', 'done', 'no token forwarded, no secret shown anywhere'],
  ['SEC-3', 'started', 'no request leaves for a private address or a redirect'],
  ['SEC-4', 'started', 'every limit is a setting with a clear error'],
  ['SEC-5', 'done', 'Origin and Host are checked, CORS is an allow-list'],
  ['SEC-6', 'done', 'one audit row for each call and each act, in chains'],
  ['SEC-7', 'done', 'tool definitions are pinned and changes approved'],
  ['SEC-8', 'started', 'text of upstreams stays data'],
  ['SEC-9', 'started', 'bytes, streams and sessions are bounded, a crash is not'],
  ['SEC-10', 'started', 'the upstream reads what the gateway decided on'],

  // Find and classify
  ['FIND-1', 'done', 'search over all tools, ranked, fast at 10,000'],
  ['FIND-2', 'done', 'an endpoint of three tools that finds the others'],
  ['FIND-3', 'done', 'skills for each tool, by LLM or without one'],
  ['FIND-4', 'started', 'long prompts, typos, exact names, many tasks in one'],
  ['FIND-5', 'started', 'about two calls per task with the three tools'],

  // LLM side
  ['LLM-1', 'done', 'tools in the formats of the three LLM providers'],
  ['LLM-2', 'done', 'their tool calls executed and answered'],
  ['LLM-3', 'done', 'a bounded conversation loop, REST and command line'],
  ['LLM-4', 'done', 'ask: one guarded step, evidence for each claim'],
  ['LLM-5', 'done', 'a result cache for read-only tools that opt in'],
  ['LLM-6', 'done', 'structured traces of every stage'],

  // stdio and the command line
  ['CLI-1', 'done', 'portico connect offers the stdio servers of a machine'],
  ['CLI-2', 'done', 'portico stdio for hosts that know nothing else'],
  ['CLI-3', 'done', 'portico up: all of it on one machine'],
  ['CLI-4', 'done', 'commands for people and, with --json, for programs'],

  // Seen and run
  ['OPS-1', 'done', 'a web console'],
  ['OPS-2', 'started', 'metrics, logs, traces, and a health answer'],
  ['OPS-3', 'started', 'start, test and deploy are one command each'],
  ['OPS-4', 'started', 'deploy, upgrade, roll back, back up, restore'],
  ['OPS-5', 'started', 'one server for a team'],
  ['OPS-6', 'started', 'configuration as code'],
  ['OPS-7', 'started', 'a trace, a log line and metrics for every request'],
  ['OPS-8', 'started', 'the command line covers the API'],

  // Edge
  ['EDGE-1', 'started', 'a warm call waits for its server only'],
  ['EDGE-2', 'started', 'sixty cents per million calls'],
  ['EDGE-3', 'started', 'no one object or read becomes the limit'],
  ['EDGE-4', 'planned', 'published figures are those of default settings'],

  // Story 1: add a server
  ['AG-US1-AC1', 'started', 'a valid configuration becomes a record'],
  ['AG-US1-AC2', 'done', 'a STDIO server is connected'],
  ['AG-US1-AC3', 'done', 'an SSE server is connected'],
  ['AG-US1-AC4', 'done', 'an HTTP server is connected'],
  ['AG-US1-AC5', 'done', 'auto_connect connects at once'],
  ['AG-US1-AC6', 'done', 'a missing field gets 422'],
  ['AG-US1-AC7', 'done', 'a name that is taken gets 409'],
  ['AG-US1-AC8', 'started', 'registration takes two seconds at most'],

  // Story 2: find tools over all servers
  ['AG-US2-AC1', 'done', 'search covers all connected servers'],
  ['AG-US2-AC2', 'done', 'each hit names its server'],
  ['AG-US2-AC3', 'done', 'disconnected servers are left out'],
  ['AG-US2-AC4', 'done', 'server_filter narrows the search'],
  ['AG-US2-AC5', 'done', 'the total is the sum of the servers'],
  ['AG-US2-AC6', 'done', '150 ms for 10 servers of 100 tools'],
  ['AG-US2-AC7', 'done', 'relevance orders, not the server'],

  // Story 3: classify tools
  ['AG-US3-AC1', 'done', 'discovery starts classification'],
  ['AG-US3-AC2', 'done', 'one to three skills, each with a confidence'],
  ['AG-US3-AC3', 'done', 'the primary skill is the best of at least 0.5'],
  ['AG-US3-AC4', 'done', 'an unclassified tool is still found'],
  ['AG-US3-AC5', 'done', 'skill embeddings follow'],
  ['AG-US3-AC6', 'done', 'one tool within 3 seconds'],
  ['AG-US3-AC7', 'done', '50 tools within a minute'],
  ['AG-US3-AC8', 'done', 'a new skill waits for review'],

  // Story 4: route calls
  ['AG-US4-AC1', 'done', 'a qualified name finds its server'],
  ['AG-US4-AC2', 'done', 'the original name and the id of the server find it too'],
  ['AG-US4-AC3', 'done', 'a disconnected server gets 503 and its state'],
  ['AG-US4-AC4', 'done', 'the upstream sees the arguments as sent'],
  ['AG-US4-AC5', 'done', 'the client sees the answer as sent'],
  ['AG-US4-AC6', 'started', 'routing costs less than 50 ms'],
  ['AG-US4-AC7', 'done', 'an unknown tool gets 404'],
  ['AG-US4-AC8', 'done', 'calls side by side do not mix'],

  // Story 5: watch health
  ['AG-US5-AC1', 'done', 'checks run every 30 seconds, or as set'],
  ['AG-US5-AC2', 'done', 'health_check_url is asked where there is one'],
  ['AG-US5-AC3', 'done', 'without such a URL the last good message counts'],
  ['AG-US5-AC4', 'done', 'the status follows the checks'],
  ['AG-US5-AC5', 'done', 'three failures in a row make an ERROR'],
  ['AG-US5-AC6', 'done', 'the list of servers shows their health'],
  ['AG-US5-AC7', 'done', 'response time and error rate are exported'],
  ['AG-US5-AC8', 'done', 'a check ends after 5 seconds'],

  // Story 6: connect and disconnect
  ['AG-US6-AC1', 'done', 'connect brings a server up'],
  ['AG-US6-AC2', 'done', 'disconnect takes it down in peace'],
  ['AG-US6-AC3', 'done', 'pending calls finish or time out'],
  ['AG-US6-AC4', 'done', 'the tools of a disconnected server leave search'],
  ['AG-US6-AC5', 'done', 'on reconnect its tools are found again'],
  ['AG-US6-AC6', 'done', 'delete removes the server and its tools'],
  ['AG-US6-AC7', 'done', 'a removed server has skills counted again'],

  // Story 7: name collisions
  ['AG-US7-AC1', 'done', 'every tool is server.tool'],
  ['AG-US7-AC2', 'done', 'original_name keeps the name of the server'],
  ['AG-US7-AC3', 'done', 'search shows both names'],
  ['AG-US7-AC4', 'done', 'a call takes either form'],
  ['AG-US7-AC5', 'done', 'tools are listed by server'],
  ['AG-US7-AC6', 'done', 'a rename renames the tools'],
  ['AG-US7-AC7', 'done', "the gateway's own tools have no prefix"],
];

/** All requirements, in the order of the document they are from. */
export const requirements: readonly Requirement[] = rows.map(([id, state, text]) => ({
  id,
  area: id.slice(0, id.lastIndexOf('-')),
  state,
  text,
}));
