/** The protocol of a stdio aggregator: what it says of messages, names and errors. */
import type { DocumentLine, SourceDocument } from './document.ts';

const LINES = [
  { id: 'P1', says: 'a host that knows only stdio starts it and initializes' },
  {
    id: 'P2',
    says: 'its capabilities are `tools: {}` and nothing else',
    does: 'also says that lists change, and has resources, prompts, completions and logging',
    why: 'what servers offer passes through; a host that wants tools only ignores the rest',
  },
  { id: 'P3', says: 'a client of 2024-11-05 is answered in 2024-11-05' },
  {
    id: 'P4',
    says: 'its name is `mcp-simple-aggregator`, its version 1.0.0',
    does: 'it is called `portico`, with its own version',
    why: 'hosts show it, and a report of a fault needs the program and version that answered',
  },
  { id: 'P5', says: 'tools of all children are listed as `server:tool`' },
  { id: 'P6', says: 'description and input schema are as the child has them' },
  { id: 'P7', says: 'the child gets its own name of the tool and the arguments unchanged' },
  { id: 'P8', says: 'the result is what the child answered, unchanged' },
  { id: 'P9', says: 'an unknown tool: -32601, `Tool not found: invalid:tool_name`' },
  {
    id: 'P10',
    says: 'no prefix: -32602, `Tool name must be prefixed with server key: tool_name`',
  },
  { id: 'P11', says: 'an error of a child arrives with its code, message and data' },
  { id: 'P12', says: 'one program configured twice is two servers' },
  { id: 'P13', says: 'special characters of a server key stay: `my-server_v2:tool_name`' },
  { id: 'P14', says: 'a tool whose own name has a colon is called all the same' },
  { id: 'P15', says: 'each message is one line of JSON' },
  { id: 'P16', says: 'binary data are base64 in the content' },
  { id: 'P17', says: 'only methods of the protocol are served' },
  {
    id: 'P18',
    says: 'resources are not supported',
    does: 'they are listed and read',
    why: 'the document leaves them to a later version',
  },
  {
    id: 'P19',
    says: 'prompts are not supported',
    does: 'they are listed and got',
    why: 'the document leaves them to a later version',
  },
  {
    id: 'P20',
    says: 'sampling is not supported',
    does: 'a question of a server reaches the host, and its answer the server',
    why: 'tools that ask would fail otherwise',
  },
  {
    id: 'P21',
    says: 'a changed list of tools is not told',
    does: 'the host is told',
    why: 'else it would call what is gone and miss what is new',
  },
  {
    id: 'P22',
    says: 'a child is initialized by `aggregator-client` 1.0.0, with `capabilities: {}`',
    does: 'by `portico`, with its own version, and with what its clients can be asked',
    why: 'as P4; and a child asks only who says that it can be asked',
  },
  {
    id: 'P23',
    says: 'in its notes: -32600, `Tool name must be prefixed: tool_name`',
    does: '-32602 and the text of P10',
    why: 'the document says both; its table of errors has this one',
  },
  { id: 'P24', says: 'all tools have a JSON Schema of an object as their input schema' },
  { id: 'P25', says: 'the error codes of JSON-RPC: -32700, -32600, -32601' },
  { id: 'P26', says: '`mcpServers`: a key, `command` and `args` make a server of that name' },
  { id: 'P27', says: 'a child hears `initialize`, then `tools/list`, each with an id of its own' },
] as const satisfies readonly DocumentLine[];

export type ProtocolLine = (typeof LINES)[number]['id'];

export const PROTOCOL: SourceDocument = {
  title: 'MCP Protocol Specification for Aggregator',
  asked: 'Asked of `portico up --stdio --names colon` with its requests to the letter.',
  tests: ['test/e2e/documents/protocol.test.ts'],
  lines: LINES,
};
