/**
 * The only error table. Each stable `code` defines its HTTP status, its JSON-RPC code in either era, whether a tool
 * call shows it as a tool result (`isError`) or as a protocol error, and whether a retry may help. The projections
 * beside this file read it; no code matches on error texts.
 *
 * Invariant: Portico's own JSON-RPC codes are positive, so they cannot be mistaken for a reserved one (-32768 to
 * -32000).
 */
import { RPC } from '../protocol.ts';

export interface ErrorEntry {
  readonly status: number;
  readonly rpc: number;
  /** Code in the legacy era where it differs from the modern one. */
  readonly legacyRpc?: number;
  /** Shown as a tool result with `isError: true` when it happens to a tool call. */
  readonly toolResult?: true;
  readonly retryable?: true;
  /** Short human title; the detail of a problem says more. */
  readonly title: string;
}

const entry = (status: number, rpc: number, title: string, more: Partial<ErrorEntry> = {}) => ({
  status,
  rpc,
  title,
  ...more,
});

const upstream = (status: number, rpc: number, title: string, more: Partial<ErrorEntry> = {}) =>
  entry(status, rpc, title, { toolResult: true, ...more });

const table = {
  parse_error: entry(400, RPC.parseError, 'The body is not valid JSON'),
  invalid_request: entry(400, RPC.invalidRequest, 'The request is not valid'),
  invalid_params: entry(400, RPC.invalidParams, 'A parameter is missing or not valid'),
  method_not_found: entry(404, RPC.methodNotFound, 'Method not found'),
  header_mismatch: entry(400, RPC.headerMismatch, 'A header and the body disagree'),
  missing_client_capability: entry(
    400,
    RPC.missingClientCapability,
    'The server needs a capability that the client did not declare',
  ),
  unsupported_protocol_version: entry(
    400,
    RPC.unsupportedProtocolVersion,
    'Unsupported protocol version',
  ),
  unauthorized: entry(401, 4010, 'A valid bearer token is needed'),
  forbidden: entry(403, 4030, 'This token may not do that'),
  origin_refused: entry(403, 4031, 'This origin or host is not allowed'),
  not_found: entry(404, 4040, 'Not found'),
  session_not_found: entry(404, 4041, 'Session not found'),
  tool_not_found: entry(404, RPC.invalidParams, 'Tool not found', {
    legacyRpc: RPC.methodNotFound,
  }),
  prompt_not_found: entry(404, RPC.invalidParams, 'Prompt not found'),
  resource_not_found: entry(404, RPC.invalidParams, 'Resource not found', {
    legacyRpc: RPC.legacyResourceNotFound,
  }),
  task_not_found: entry(404, RPC.invalidParams, 'Task not found'),
  tool_name_unprefixed: entry(400, RPC.invalidParams, 'The name has no server part'),
  session_required: entry(400, 4001, 'This request needs a session'),
  method_not_allowed: entry(405, 4050, 'Method not allowed'),
  not_acceptable: entry(406, 4060, 'The Accept header does not allow an answer'),
  conflict: entry(409, 4090, 'Already exists'),
  precondition_failed: entry(412, 4120, 'It was changed meanwhile'),
  payload_too_large: entry(413, 4130, 'The body is too large'),
  unsupported_media_type: entry(415, 4150, 'The content type must be application/json'),
  validation_failed: entry(422, 4220, 'A field is missing or not valid'),
  rate_limited: entry(429, 4290, 'Too many calls; try again later', {
    toolResult: true,
    retryable: true,
  }),
  budget_reached: entry(429, 4292, 'The budget of calls is used up for today', {
    toolResult: true,
  }),
  busy: entry(503, 5039, 'Too many requests at once; try again', { retryable: true }),
  migrations_pending: entry(503, 5053, 'The database lacks a migration of this version', {
    retryable: true,
  }),
  internal: entry(500, RPC.internalError, 'Internal error'),
  server_disconnected: upstream(503, 5030, 'The server is disconnected', { retryable: true }),
  circuit_open: upstream(503, 5041, 'The server failed too often and is tried again later', {
    retryable: true,
  }),
  // The runtime reports a refused connection and one that was reset before the headers by the same error.
  upstream_unreachable: upstream(502, 5020, 'The server cannot be reached or hung up at once'),
  upstream_timeout: upstream(504, 5040, 'The server did not answer in time'),
  upstream_truncated: upstream(502, 5022, 'The answer of the server was cut off'),
  upstream_no_response: upstream(502, 5023, 'The server ended its answer without a response'),
  upstream_auth: upstream(502, 5024, 'The server wants a valid credential'),
  account_required: upstream(403, 4032, 'The server wants an account of your own'),
  credential_unavailable: upstream(502, 5050, 'The stored credential of the server cannot be used'),
  upstream_scope: upstream(502, 5025, 'The server forbids the request'),
  upstream_session: upstream(502, 5026, 'The server does not keep its session'),
  upstream_rate_limited: upstream(
    502,
    5027,
    'The server refused the call because of its rate limit',
    { retryable: true },
  ),
  upstream_5xx: upstream(502, 5028, 'The server failed'),
  upstream_4xx: upstream(502, 5029, 'The server refused the request'),
  upstream_redirect: upstream(502, 5031, 'The server redirects, which is never followed'),
  upstream_bad_content_type: upstream(502, 5032, 'The answer is neither JSON nor an event stream'),
  upstream_bad_json: upstream(502, 5033, 'The answer is not valid JSON'),
  upstream_bad_message: upstream(502, 5034, 'The answer is not a JSON-RPC response to the request'),
  upstream_too_large: upstream(502, 5035, 'The answer is larger than allowed'),
  upstream_refused_address: upstream(502, 5036, 'The address of the server is not allowed'),
  // The call was made, so a retry could repeat its effect: not marked retryable.
  upstream_no_room: upstream(
    503,
    5042,
    'The server answered, but there was no room for its answer',
  ),
  call_not_recorded: upstream(
    503,
    5043,
    'The call was made, but it could not be recorded, so its answer is withheld',
  ),
  call_gone: upstream(410, 4100, 'The call ended while it waited for input'),
  too_many_calls: upstream(503, 5038, 'Too many calls wait for input', { retryable: true }),
  model_missing: entry(503, 5051, 'No language model is configured'),
  model_failed: entry(502, 5052, 'The language model did not answer as it should'),
  model_budget: entry(429, 4291, 'The budget for the language model is spent for today'),
  upstream_needs_input: upstream(502, 5037, 'The server asks for input this client cannot give'),
} satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof table;

/** Looks up a code. */
export function errorEntry(code: ErrorCode): ErrorEntry {
  return table[code];
}

/** All codes, for documentation and tests. */
export const ERROR_CODES = Object.keys(table) as ErrorCode[];
