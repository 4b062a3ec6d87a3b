/** The report on an integration system: any model with any server, its wire examples, errors, sessions and kinds of tools. */
import type { DocumentLine, SourceDocument } from './document.ts';
import { STREAM_LINES } from './integration-streams.ts';
import { USE_LINES } from './integration-use.ts';

/** Conversations, the wire and sessions. */
export const WIRE_LINES = [
  { id: 'I1', says: 'any LLM is connected without code for each: OpenAI, Anthropic, Gemini' },
  {
    id: 'I2',
    says: '“What’s the content of the latest error log?” is read and answered in one conversation',
  },
  { id: 'I3', says: 'file access that reads and does not delete: the LLM never sees the rest' },
  {
    id: 'I4',
    says: 'the audit has each call: who, when, which tool, parameters, outcome',
  },
  { id: 'I5', says: '`{"function_call": {"name": "read_file", "arguments": "{\\"path\\": …}"}}`' },
  { id: 'I6', says: 'the result is a message of role `function` with the text of the file' },
  { id: 'I7', says: 'one of several steps: search first, then read what was found' },
  { id: 'I8', says: 'a file that is not there: the LLM is told, and can say so' },
  { id: 'I9', says: 'requests are JSON-RPC 2.0 with `jsonrpc`, `id`, `method`, `params`' },
  {
    id: 'I10',
    says: '`tools/call` names its tool in `params.tool`',
    does: 'in `params.name`',
    why: 'the protocol of 2024-11-05 has it there, and servers read nothing else',
  },
  {
    id: 'I11',
    says: 'a listed tool has its schema in `parameters`',
    does: 'in `inputSchema`; a tool without one is left out',
    why: 'the protocol of 2024-11-05 has it there; a model cannot call what it knows no form of',
  },
  {
    id: 'I12',
    says: 'a call is acknowledged by `{"id": 1, "result": "accepted"}` before its events',
    does: 'that is an error: the response to the id is the result',
    why: 'a request has one response; “accepted” would be taken for what the tool said',
  },
  { id: 'I13', says: 'events of `event:`, `id:` and several `data:` lines, ended by an empty one' },
  {
    id: 'I14',
    says: '`data: {"partial": "Hello "}` and more are put together to one result',
    does: 'that is an error: events are messages of JSON-RPC, and progress goes on to who asked',
    why: 'the protocol knows no parts of a result; what was put together would be a guess',
  },
  {
    id: 'I15',
    says: 'all that came before the connection closes is the output',
    does: 'a stream that ends without a response is an error',
    why: 'half a file would be taken for the whole',
  },
  { id: 'I16', says: '`{"code": -32601, "message": "Tool not found"}` arrives as an error' },
  { id: 'I17', says: '-32602: the LLM hears what was wrong, to correct itself' },
  { id: 'I18', says: '-32001 `File not found` and -32002 `Access denied` arrive with their codes' },
  { id: 'I19', says: 'a call is ended after 30 s without an answer, and the LLM is told' },
  {
    id: 'I21',
    says: '`Authorization: Bearer <token>` or `Mcp-Auth-Token`, set for each server, on each request',
  },
  { id: 'I22', says: 'the key is stored safely and not told again' },
  {
    id: 'I23',
    says: '`initialize` at first; its `Mcp-Session-Id` goes with each request after it',
    does: 'so, but a server is asked once before whether it knows `server/discover`',
    why: 'servers of the protocol of 2026 have no `initialize`',
  },
  {
    id: 'I24',
    says: 'a session may also come in JSON, or begin with the first `tools/list`',
    does: 'it comes in the header of the answer to `initialize`, or there is none',
    why: 'the protocol has it there; servers that want no session are used without one',
  },
  { id: 'I25', says: 'a session that expired is begun anew, and the call made again once' },
  {
    id: 'I26',
    says: 'conversations at the same time have sessions of their own',
    does: 'so have MCP clients of that protocol; chats and REST calls of one principal share one',
    why: 'what a server keeps there belongs to that principal; nobody else comes near it',
  },
  {
    id: 'I27',
    says: '`session/close` ends a session',
    does: '`DELETE` does, with its `Mcp-Session-Id`',
    why: 'the protocol ends sessions so, and knows no such method',
  },
  {
    id: 'I28',
    says: 'a shell that was started stays for the next calls of the conversation, until it is ended',
  },
] as const satisfies readonly DocumentLine[];

/** Several servers, failures, security and formats. */
export const SERVICE_LINES = [
  {
    id: 'I29',
    says: 'the tools of all servers are one catalog; equal names have their server before them',
    does: 'every name has its server before it',
    why: 'else a name would change when another server is added',
  },
  { id: 'I30', says: 'a call goes to the server that has the tool' },
  {
    id: 'I31',
    says: 'a server that is added later is used at once; one that is removed is hidden',
  },
  { id: 'I32', says: 'a server that is slow holds up no other' },
  { id: 'I33', says: 'a server that is down: the LLM is told so, and others go on' },
  {
    id: 'I34',
    says: 'a connection lost in the middle gives what came, marked `[Error: connection lost]`',
    does: 'an error alone',
    why: 'half a result must not be taken for one',
  },
  { id: 'I35', says: 'JSON that is broken in a stream is an error of that call' },
  { id: 'I36', says: 'the second of two tools fails: the answer has the first, and says so' },
  { id: 'I37', says: 'whoever shows no credential may nothing' },
  { id: 'I38', says: 'a person confirms a call that modifies data' },
  { id: 'I39', says: 'no more than so many calls a minute: what is beyond is refused for a while' },
  {
    id: 'I40',
    says: 'sensitive content is taken out before the LLM sees it',
    does: 'the LLM is given what its user may read, to the letter; only stored secrets are taken out',
    why: 'rules decide who reads what; a filter of words would miss some and break other results',
  },
  { id: 'I41', says: '50 tool calls at the same time' },
  { id: 'I42', says: 'a file that was just read comes from the cache, where that is allowed' },
  { id: 'I43', says: 'a session is dropped after 30 minutes without use' },
  {
    id: 'I44',
    says: '`name` of a to z, digits and `_`, at most 64 characters',
    does: 'also of capital letters and `-`',
    why: 'the API takes them, and a name stays nearer to that at its server',
  },
  {
    id: 'I45',
    says: '`description` of at most 256 characters',
    does: 'of at most 1,024',
    why: 'that is what the API takes; more of it helps a model',
  },
  {
    id: 'I46',
    says: 'OpenAI: `functions`, each of name, description and parameters',
    does: 'each is in `tools` as `{"type": "function", "function": …}`, those members unchanged',
    why: 'the API has replaced `functions`; answers with `function_call` are still read',
  },
  { id: 'I47', says: 'a tool without parameters: `{"type": "object", "properties": {}}`' },
  {
    id: 'I48',
    says: 'Anthropic: name, description and `inputs` or `args`',
    does: 'the schema is in `input_schema`',
    why: 'the report guessed at it; the API has it so',
  },
  { id: 'I49', says: 'Gemini: function declarations in one payload' },
  {
    id: 'I50',
    says: 'a result is `{"result": …}` or `{"error": {"code": …, "message": …}}`',
    does: 'its text; of a failure, text that begins so, with the message and the code',
    why: 'the APIs have a place for the result; a second wrapping says nothing more to a model',
  },
  {
    id: 'I51',
    says: 'an address for each operation: `[base_url]/tools/list`, `[base_url]/tools/call`',
    does: 'one address for all',
    why: 'the protocol has one; the REST API of the gateway itself has `/tools` and `/tools/call`',
  },
  {
    id: 'I52',
    says: '`Accept: text/event-stream`, `Content-Type: application/json`',
    does: 'also accepts `application/json`',
    why: 'the protocol asks for both; a server chooses',
  },
  {
    id: 'I53',
    says: 'programs that speak over stdio are not used',
    does: 'they are, by `portico connect` and `portico up`',
    why: 'AG-US1 of the aggregator stories asks for it',
  },
  { id: 'I91', says: 'several instances use one server, each with sessions of its own' },
] as const satisfies readonly DocumentLine[];

/** Kinds of tools, and what their operators see. */
export const TOOL_LINES = [
  {
    id: 'I54',
    says: 'files: write, append, create, read, move, copy, delete, list, make, info, search',
  },
  { id: 'I55', says: 'file names and content beyond ASCII, and binary files' },
  { id: 'I56', says: 'a large file arrives whole' },
  { id: 'I57', says: 'a place that is protected, a program that is not there: the error arrives' },
  { id: 'I58', says: 'processes: start, read, write, interact, list; one that is killed is gone' },
  { id: 'I59', says: 'a search by name or content is started, read in batches and stopped' },
  { id: 'I60', says: '`get_config`, `set_config_value` and `run_command`' },
  {
    id: 'I61',
    says: 'each error is in the log: when, which server, which tool, what the error says',
    does: 'so, in the audit, with the code of the error in place of its text',
    why: 'what a server writes may hold what nobody who reads the audit may see',
  },
  { id: 'I62', says: 'errors that repeat, such as a server that is gone, alert administrators' },
  {
    id: 'I93',
    says: 'so does a server that does not take its credential any more',
    does: 'it is DEGRADED, which the console, the API and `/metrics` tell; no webhook does',
    why: 'a credential may be of one account, and others get through; whoever watches can alert on it',
  },
  { id: 'I63', says: 'sensitive parameters are masked in the audit' },
  { id: 'I64', says: 'the audit can be given to a SIEM' },
] as const satisfies readonly DocumentLine[];

export type WireLine = (typeof WIRE_LINES)[number]['id'];
export type ServiceLine = (typeof SERVICE_LINES)[number]['id'];
export type ToolLine = (typeof TOOL_LINES)[number]['id'];

export const INTEGRATION: SourceDocument = {
  title: 'LLMC MCP Integration System, the report',
  asked:
    'Asked with its server of files and processes, by hand and on the wire as it draws it, a second server, and a model that is told what to call.',
  tests: [
    'test/e2e/documents/integration-wire.test.ts',
    'test/e2e/documents/integration-service.test.ts',
    'test/e2e/documents/integration-tools.test.ts',
    'test/e2e/documents/integration-streams.test.ts',
    'test/e2e/documents/integration-use.test.ts',
  ],
  lines: [...WIRE_LINES, ...SERVICE_LINES, ...TOOL_LINES, ...STREAM_LINES, ...USE_LINES].toSorted(
    (a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)),
  ),
};
