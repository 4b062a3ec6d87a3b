/** The report on an integration system: its streams, and what else it says of the wire. */
import type { DocumentLine } from './document.ts';

export const STREAM_LINES = [
  { id: 'I20', says: 'the time of a call can be set' },
  { id: 'I65', says: 'a stream that was lost goes on by the id of its last event' },
  { id: 'I66', says: 'a call is not ended while the server says how far it is' },
  { id: 'I67', says: 'a call can be streamed: its user sees what comes, as it comes' },
  { id: 'I68', says: 'a connection on which nothing comes is kept open, also through proxies' },
  {
    id: 'I69',
    says: '`{"status": "complete"}` ends a stream',
    does: 'that is an error: the response to the id ends it',
    why: 'as I14',
  },
  {
    id: 'I70',
    says: '`data: {"error": {"code": -32001, "message": "File not found"}}` is the error of the call',
    does: 'that is an error of the server: an error of JSON-RPC has the id of its request',
    why: 'without an id nobody knows whose it is; with it I18 holds',
  },
  {
    id: 'I71',
    says: '`event:` is ignored: an event of the type `output` or `result` is read like any other',
    does: 'only events of the type `message`, or of none, are read',
    why: 'the protocol of 2024-11-05 sends its messages so; others are not for its clients',
  },
  {
    id: 'I72',
    says: '`"method": "read_file"` with the arguments in `params`, where a server wants that',
    does: '`tools/call` only',
    why: 'the protocol has no other; a tool may be named as one of its methods is',
  },
  {
    id: 'I73',
    says: 'a server may hold its session in a cookie',
    does: 'cookies are neither kept nor sent',
    why: 'the report prefers the header too; a cookie would be shared by all who call the server',
  },
  {
    id: 'I74',
    says: '-32601 to `tools/list`: “Method not supported by server”',
    does: 'the server is connected and has no tools',
    why: 'a server may have resources or prompts alone',
  },
  { id: 'I75', says: 'a page in a browser may use it from the origins that are named' },
  { id: 'I76', says: 'logs are rotated, so that they do not grow without end' },
  { id: 'I89', says: 'how often tools are used, and fail, is measured' },
] as const satisfies readonly DocumentLine[];

export type StreamLine = (typeof STREAM_LINES)[number]['id'];
