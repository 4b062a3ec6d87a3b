/** The guarded host of several servers over SSE: its ask of one step, and what stands in its way. */
import type { DocumentLine, SourceDocument } from './document.ts';

const LINES = [
  { id: 'H1', says: 'one host lists and calls the tools of three servers over SSE' },
  {
    id: 'H2',
    says: 'a server is reached by `GET /sse`, its `endpoint` event and `POST /messages/`',
  },
  {
    id: 'H3',
    says: 'one client session for each server',
    does: 'a session for whoever looks after the server, and one for each client that needs its own',
    why: 'what a server keeps for one client is not for another',
  },
  { id: 'H4', says: 'the model is asked over `POST /v1/chat/completions`' },
  {
    id: 'H5',
    says: 'the model is named by `LLM_MODEL`',
    does: 'by `PORTICO_MODEL`',
    why: 'all its settings begin so, and stand apart from those of other programs',
  },
  {
    id: 'H6',
    says: 'the model plans and executes nothing: `{type: "call_tool", server, tool, args}`',
  },
  { id: 'H7', says: '`ask "…"` is a command' },
  { id: 'H8', says: 'unsafe requests are refused before the model hears of them' },
  { id: 'H9', says: 'only tools that are discovered and on the allow-list are shown to the model' },
  {
    id: 'H10',
    says: 'the allow-list is `config/allowlist.json`',
    does: 'its entries are kept by the gateway: by REST, the command line or a file of configuration',
    why: 'several people administer it, and each change has a row in the audit',
  },
  { id: 'H11', says: 'a plan that is no strict JSON is refused' },
  { id: 'H12', says: 'a plan whose arguments do not fit the live schema is refused' },
  { id: 'H13', says: 'a tool that nobody offers is refused' },
  { id: 'H14', says: 'a tool that the operator did not allow is refused' },
  { id: 'H15', says: 'tools with side effects are blocked unless the operator names them' },
  { id: 'H16', says: 'exactly one tool is called' },
  {
    id: 'H17',
    says: 'structured content is parsed into Pydantic models',
    does: 'it is checked against the output schema of its tool',
    why: 'each server brings its own schema; a model in Python would have to be written for each',
  },
  { id: 'H18', says: 'a summary on demand, each claim with a snippet of evidence from the output' },
  {
    id: 'H19',
    says: 'every stage leaves an event in `SAFE_TRACE_DIR`',
    does: 'in `PORTICO_TRACE_DIR`, and at a collector',
    why: 'all its settings begin so, and stand apart from those of other programs',
  },
  { id: 'H20', says: 'a session begins with `initialize` and `notifications/initialized`' },
  {
    id: 'H21',
    says: 'search and fetch documents, search and get tickets, search and fetch policies',
  },
  { id: 'H22', says: 'a plan of another type, or with more members, is refused' },
  { id: 'H23', says: 'an entry of the allow-list for a tool that is not discovered adds none' },
] as const satisfies readonly DocumentLine[];

export type HostLine = (typeof LINES)[number]['id'];

export const HOST: SourceDocument = {
  title: 'Architecture of a Multi-MCP Host',
  asked: 'Asked of its three servers over SSE, with a model that is told what to plan.',
  tests: ['test/e2e/documents/host.test.ts'],
  lines: LINES,
};
