/**
 * MCP by hand over fetch, in both eras, so that a test sees every byte and can send what no SDK would. Owns headers, ids and the parsing of
 * JSON and SSE responses; judges nothing.
 */
import { memberAt, membersOf } from '../../fixtures/raw-json.ts';

export const LEGACY_VERSION = '2025-11-25';
export const MODERN_VERSION = '2026-07-28';
export type Era = 'legacy' | 'modern';

export interface Target {
  url: string;
  /** Left out if the peer requires no credential. */
  token?: string | undefined;
}

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export interface Content {
  type: string;
  text?: string;
  [key: string]: unknown;
}

export interface CallResult {
  content: Content[];
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** The body as received. */
  text: string;
  /** Raw text of every JSON-RPC message in the body, in order. */
  messages: string[];
  /** The last message, parsed; an empty object if there is none. */
  message: { id?: unknown; result?: Record<string, unknown>; error?: RpcError };
  /** Raw text of `result` of the last message. */
  resultText: string | undefined;
}

/** Returns the `data` of each event of an event stream. */
export function eventsOf(text: string): string[] {
  return text
    .split(/\r?\n\r?\n/u)
    .map(block =>
      block
        .split(/\r?\n/u)
        .filter(line => line.startsWith('data:'))
        .map(line => line.slice(5).replace(/^ /u, ''))
        .join('\n'),
    )
    .filter(data => data !== '');
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const messages = type.includes('event-stream')
    ? eventsOf(text)
    : type.includes('json')
      ? [text]
      : [];
  const last = messages.at(-1);
  return {
    status: response.status,
    headers: response.headers,
    text,
    messages,
    message: last === undefined ? {} : (JSON.parse(last) as Answer['message']),
    resultText: last === undefined ? undefined : memberAt(last, 'result'),
  };
}

/** Builds the headers of a POST to an MCP endpoint. A value of null leaves a header out. */
export function headersFor(target: Target, more: Record<string, string | null> = {}): Headers {
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  if (target.token !== undefined) headers.set('authorization', `Bearer ${target.token}`);
  for (const [name, value] of Object.entries(more)) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return headers;
}

/** POSTs a body unchanged. */
export async function post(
  target: Target,
  body: string | Uint8Array<ArrayBuffer>,
  more: Record<string, string | null> = {},
): Promise<Answer> {
  const init = { method: 'POST', headers: headersFor(target, more), body };
  return read(await fetch(target.url, { ...init, redirect: 'manual' }));
}

const ENVELOPE = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

const toObject = (members: [string, string][]): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;

/**
 * Returns the text of a JSON-RPC request; `params` is the text of an object whose values are inserted unchanged. In the modern era the
 * envelope is added to its `_meta`.
 */
export function requestBody(era: Era, method: string, params: string, id: number | string): string {
  const members = membersOf(params);
  if (era === 'modern') {
    const own = membersOf(members.find(([name]) => name === '_meta')?.[1] ?? '{}');
    const rest = members.filter(([name]) => name !== '_meta');
    const meta = toObject([...own, ...membersOf(ENVELOPE)]);
    members.splice(0, members.length, ...rest, ['_meta', meta]);
  }
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}","params":${toObject(members)}}`;
}

/** Encodes a value for a header: anything but plain ASCII becomes Base64 between marks (2026-07-28). */
const toHeaderValue = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u.test(value)
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`;

/** Returns the headers that must repeat a modern body. */
export function modernHeaders(method: string, name?: string): Record<string, string> {
  return {
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': toHeaderValue(name) }),
  };
}

export interface RawClient {
  era: Era;
  target: Target;
  /** Session id of the legacy era, if the peer assigned one. */
  sessionId: string | undefined;
  /** Sends one request; `params` may be the text of an object, sent unchanged. */
  request(method: string, params?: object | string, id?: number | string): Promise<Answer>;
  /** Calls a tool; `given` may be the text of the arguments, sent unchanged. */
  call(name: string, given?: object | string, id?: number | string): Promise<Answer>;
}

function toClient(
  era: Era,
  target: Target,
  sessionId: string | undefined,
  headersOf: (method: string, name?: string) => Record<string, string>,
): RawClient {
  let lastId = 0;
  const request: RawClient['request'] = (method, params = {}, id = ++lastId) => {
    const text = typeof params === 'string' ? params : JSON.stringify(params);
    const name = memberAt(text, 'name') ?? memberAt(text, 'uri');
    const headers = headersOf(method, name === undefined ? undefined : String(JSON.parse(name)));
    return post(target, requestBody(era, method, text, id), headers);
  };
  return {
    era,
    target,
    sessionId,
    request,
    call: (name, given = {}, id) => {
      const text = typeof given === 'string' ? given : JSON.stringify(given);
      return request('tools/call', `{"name":${JSON.stringify(name)},"arguments":${text}}`, id);
    },
  };
}

/** Makes a client of an existing legacy session. */
export const resumeLegacy = (target: Target, sessionId: string | undefined): RawClient =>
  toClient('legacy', target, sessionId, () => ({
    'mcp-protocol-version': LEGACY_VERSION,
    ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
  }));

/** Initializes a legacy session. */
export async function openLegacy(target: Target, version = LEGACY_VERSION): Promise<RawClient> {
  const params = {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  const answer = await post(target, requestBody('legacy', 'initialize', JSON.stringify(params), 0));
  if (answer.status !== 200) throw new Error(`initialize: ${answer.status} ${answer.text}`);
  const client = resumeLegacy(target, answer.headers.get('mcp-session-id') ?? undefined);
  await post(target, '{"jsonrpc":"2.0","method":"notifications/initialized"}', {
    'mcp-protocol-version': version,
    ...(client.sessionId === undefined ? {} : { 'mcp-session-id': client.sessionId }),
  });
  return client;
}

/** A modern client: no session, the envelope in every request. */
export const openModern = (target: Target): RawClient =>
  toClient('modern', target, undefined, modernHeaders);

/** Opens a client of the era. */
export const open = async (era: Era, target: Target): Promise<RawClient> =>
  era === 'legacy' ? openLegacy(target) : openModern(target);

/** Returns the result of a tools/call; throws an error with the whole response if it has none. */
export function resultOf(answer: Answer): CallResult {
  if (!answer.message.result) throw new Error(`${answer.status} ${answer.text}`);
  return answer.message.result as CallResult;
}

/** Returns the first text of a result. */
export const textOf = (answer: Answer): string => resultOf(answer).content[0]?.text ?? '';

/** Lists every tool of an endpoint, page by page. */
export async function listAllTools(client: RawClient): Promise<{ name: string }[]> {
  const tools: { name: string }[] = [];
  let cursor: string | undefined;
  do {
    const answer = await client.request('tools/list', cursor === undefined ? {} : { cursor });
    const result = resultOf(answer) as unknown as {
      tools: { name: string }[];
      nextCursor?: string;
    };
    tools.push(...result.tools);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return tools;
}
