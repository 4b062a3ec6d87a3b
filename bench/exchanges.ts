/**
 * The requests of the benchmark, and the checks of their responses.
 *
 * Owns: the bytes of `tools/call` and `tools/list` in both eras. Relay and Portico get the same headers and the same body; only the path
 * differs. All requests of a kind have the same size (numbers of equal length), so that the header block is built once. Refuses: every
 * response except a 200 with exactly the expected result.
 */
import type { Answer } from './answer-reader.ts';
import type { Exchange } from './load.ts';

export type Era = 'modern' | 'legacy';

/** Placeholder for the number of a request in the templates; as long as every number of the load generator. */
const NUMBER_MARK = 900_000_009;

/** Where the requests of an exchange go, and their credentials. */
export interface Route {
  /** Path and query; the host is loopback. */
  path: string;
  era: Era;
  token: string;
  /** One legacy session per connection; unused in the modern era. */
  sessions: readonly string[];
}

interface RpcAnswer {
  id?: unknown;
  result?: { isError?: boolean; content?: { text?: string }[]; tools?: { name: string }[] };
}

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'portico-bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The headers of every MCP request of an era. */
export function mcpHeaders(era: Era, token: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    Authorization: `Bearer ${token}`,
    'MCP-Protocol-Version': era === 'modern' ? '2026-07-28' : '2025-11-25',
  };
}

/** The body of a request in an era. */
export function rpcBody(
  era: Era,
  id: number,
  method: string,
  params: Record<string, unknown>,
): string {
  const withMeta = era === 'modern' ? { ...params, _meta: MODERN_META } : params;
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: withMeta });
}

/** The body of a `tools/call` of an echo tool; id and message are the number. */
export const callBody = (era: Era, name: string, n: number, message = String(n)): string =>
  rpcBody(era, n, 'tools/call', { name, arguments: { message } });

function headText(
  route: Route,
  connection: number,
  length: number,
  modernHeaders: Record<string, string>,
): string {
  const headers = { ...mcpHeaders(route.era, route.token), 'Content-Length': String(length) };
  if (route.era === 'modern') Object.assign(headers, modernHeaders);
  else Object.assign(headers, { 'Mcp-Session-Id': route.sessions[connection] });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${route.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`;
}

function createWrite(
  route: Route,
  body: string,
  modernHeaders: Record<string, string>,
): Exchange['write'] {
  const parts = body.split(String(NUMBER_MARK));
  const heads = new Map<number, string>();
  return (connection, n) => {
    let head = heads.get(connection);
    if (head === undefined) {
      head = headText(route, connection, Buffer.byteLength(body), modernHeaders);
      heads.set(connection, head);
    }
    return head + parts.join(String(n));
  };
}

function fail(answer: Answer): never {
  throw new Error(`wrong answer: ${answer.head}\n\n${answer.body.toString('utf8', 0, 2_000)}`);
}

/** A response may be an event stream, whose last event counts. */
function readCallAnswer(body: string): RpcAnswer {
  const at = body.startsWith('{') ? 0 : body.lastIndexOf('\ndata: ') + '\ndata: '.length;
  return JSON.parse(body.slice(at));
}

/**
 * `tools/call` of an echo tool by its qualified name; the id is the request's number.
 * @param message always the same text; absent: the number
 */
export function createCallExchange(
  route: Route,
  qualifiedName: string,
  message?: string,
): Exchange {
  const body = callBody(route.era, qualifiedName, NUMBER_MARK, message);
  return {
    write: createWrite(route, body, { 'Mcp-Method': 'tools/call', 'Mcp-Name': qualifiedName }),
    check(answer, n) {
      if (answer.status !== 200) fail(answer);
      const { id, result } = readCallAnswer(answer.body.toString());
      const text = message ?? String(n);
      const right = id === n && result?.content?.[0]?.text === text && !result.isError;
      if (!right) fail(answer);
    },
  };
}

/** `tools/list`; the first response is checked completely, later ones must be equal to a checked one. */
export function createListExchange(route: Route, toolCount: number): Exchange {
  let checked: Buffer | undefined;
  return {
    write: createWrite(route, rpcBody(route.era, 1, 'tools/list', {}), {
      'Mcp-Method': 'tools/list',
    }),
    check(answer) {
      if (answer.status !== 200) fail(answer);
      if (checked?.equals(answer.body)) return;
      const { id, result }: RpcAnswer = JSON.parse(answer.body.toString());
      const names = new Set(result?.tools?.map(tool => tool.name));
      if (id !== 1 || names.size !== toolCount) fail(answer);
      checked = Buffer.from(answer.body);
    },
  };
}

/** The same request as a modern `tools/call`, to a Worker that responds with `ok`. */
export function createOkExchange(path: string, token: string): Exchange {
  const { write } = createCallExchange({ path, era: 'modern', token, sessions: [] }, 'echo');
  return {
    write,
    check(answer) {
      if (answer.status !== 200 || answer.body.toString() !== 'ok') fail(answer);
    },
  };
}
