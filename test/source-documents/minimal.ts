/** The least client of several servers: one configuration file, names with a dot, no more than that. */
import type { DocumentLine, SourceDocument } from './document.ts';

const LINES = [
  { id: 'M1', says: 'a file with `servers`, each with `transport` and `endpoint` or `command`' },
  { id: 'M2', says: 'connects to an SSE server at its endpoint' },
  { id: 'M3', says: 'connects to a stdio server by its command, a list' },
  { id: 'M4', says: 'initializes each server and lists its tools, named `server.tool`' },
  { id: 'M5', says: 'a call of `server.tool` goes to that server by its own name' },
  { id: 'M6', says: 'the result of the tool is the result' },
  { id: 'M7', says: 'all tools are listed' },
  { id: 'M8', says: 'equal names of two servers do not collide' },
  { id: 'M9', says: 'no caching of results' },
  { id: 'M10', says: 'no load balancing and no priorities: a name has one server' },
  {
    id: 'M11',
    says: 'no complex error handling: let it fail fast',
    does: 'a server that fails is told of and left out; the others go on',
    why: 'one broken program of ten would take all tools away',
  },
  {
    id: 'M12',
    says: 'no health checks, no reconnecting, no retries',
    does: 'servers are looked at, and connected again when they come back; a call is never sent twice',
    why: 'AG-US5 and AG-US6 of the aggregator stories ask for it',
  },
  {
    id: 'M13',
    says: 'one class of some 80 lines of Python, used by an application in its own process',
    does: 'a program that an application starts, or an address, where it speaks the protocol',
    why: 'the other documents ask for the rest; programs in any language can use it',
  },
  {
    id: 'M14',
    says: 'its four steps: a file, connecting, the list of tools, a call by `server.tool`',
  },
] as const satisfies readonly DocumentLine[];

export type MinimalLine = (typeof LINES)[number]['id'];

export const MINIMAL: SourceDocument = {
  title: 'Minimal Multi-MCP Client Specification',
  asked: 'Asked of `portico up --stdio` with its file to the letter, but for the two addresses.',
  tests: ['test/e2e/documents/minimal.test.ts'],
  lines: LINES,
};
