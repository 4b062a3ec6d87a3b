/** Tools: those that the caller may use, a search, and a call. */
import { fromRawMembers, type RawObject } from '../../../src/shared/json/json-spans.ts';
import type { SearchResult, ToolResult, ToolsByServer } from '../generated/types.gen.ts';
import { streamEvents } from './events.ts';
import { ApiProblem, request } from './request.ts';

interface Asking {
  signal: AbortSignal;
}

/** A tool as its server describes it. */
export interface ListedTool {
  /** Qualified name: `server.tool`. */
  name: string;
  description: string;
  schema: unknown;
}

/** Tools per page. */
const PAGE = 100;
/** Most search results. */
const MAX_FOUND = 50;

const toText = (value: unknown) => (typeof value === 'string' ? value : '');

/** The tools on a page, of all servers. */
export const toTools = ({ servers }: ToolsByServer): ListedTool[] =>
  servers.flatMap(({ tools }) =>
    tools.map(({ name, description, inputSchema: schema }) => ({
      name,
      description: toText(description),
      schema,
    })),
  );

/** Lists page by page, for `useInfiniteQuery`. */
export const toolsQuery = () => ({
  queryKey: ['tools', 'list'],
  queryFn: ({ signal, pageParam: cursor }: Asking & { pageParam: string }) =>
    request<ToolsByServer>('tools', { query: { limit: PAGE, cursor }, signal }),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: ToolsByServer) => next,
});

/** Reads one tool; null where there is none of this name. */
export const toolQuery = (name: string) => ({
  queryKey: ['tools', 'one', name],
  queryFn: async ({ signal }: Asking) => {
    const page = await request<ToolsByServer>('tools', { query: { tool: name }, signal });
    // Null instead of undefined, which the query cache does not accept.
    return toTools(page)[0] ?? null;
  },
});

/** Finds the server and the own name of a tool; undefined where there is none. @throws ApiProblem, Unreachable */
export async function findTool(name: string) {
  const { servers } = await request<ToolsByServer>('tools', { query: { tool: name } });
  const all = servers.flatMap(server =>
    server.tools.map(({ original_name: tool }) => ({ server: server.name, tool })),
  );
  return all[0];
}

/** Searches tools, the best match first; the same search that models use. */
export const searchQuery = (query: string) => ({
  queryKey: ['search', query],
  queryFn: ({ signal }: Asking) =>
    request<SearchResult>('search', { method: 'POST', body: { query, limit: MAX_FOUND }, signal }),
  enabled: query.trim() !== '',
});

/** A server request during a call: information to enter, or something to do. Its content is untrusted. */
export interface Question {
  method: string;
  params: Readonly<Record<string, unknown>>;
}

/** The person's responses by key, as JSON text. */
export type Answers = RawObject;

/** Server requests by key, and the state that the next call sends along. */
export interface Asked {
  questions: Readonly<Record<string, Question>>;
  state: unknown;
}

/** A notification during a call. */
export type News = { type: 'progress' | 'log'; data: Readonly<Record<string, unknown>> };

interface Round {
  name: string;
  /** JSON text: it is sent as it was typed. */
  args: string;
  /** The request state, and the responses. */
  answered?: { state: unknown; answers: Answers };
}

/**
 * Calls a tool once. Returns its result, or its server's requests; a second call with the responses then continues it.
 * @throws ApiProblem, Unreachable; Error where the answer broke off
 */
export async function callTool(
  { name, args, answered }: Round,
  hear: (news: News) => void,
  signal: AbortSignal,
): Promise<{ result: ToolResult } | { asked: Asked }> {
  let ending: { result: ToolResult } | { asked: Asked } | { thrown: ApiProblem } | undefined;
  const members = new Map([
    ['name', JSON.stringify(name)],
    ['arguments', args],
  ]);
  if (answered) {
    members.set('input_responses', fromRawMembers(answered.answers));
    const { state } = answered;
    if (typeof state === 'string') members.set('request_state', JSON.stringify(state));
  }
  const hearEvent = (type: string, data: unknown) => {
    if (type === 'result') ending = { result: data as ToolResult };
    else if (type === 'input_required') ending = { asked: toAsked(data) };
    else if (type === 'error') ending = { thrown: toThrown(data) };
    else if (type === 'progress' || type === 'log') hear({ type, data: data as News['data'] });
  };
  await streamEvents('tools/call', { text: fromRawMembers(members), signal }, hearEvent);
  if (ending === undefined) throw new Error('The answer broke off. What the tool did is not known');
  if ('thrown' in ending) throw ending.thrown;
  return ending;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function toAsked(data: unknown): Asked {
  const { input_requests: requests, request_state: state } = data as Record<string, unknown>;
  const questions = Object.entries(isObject(requests) ? requests : {}).map(([key, given]) => {
    const { method, params } = isObject(given) ? given : {};
    return [key, { method: toText(method), params: isObject(params) ? params : {} }] as const;
  });
  return { questions: Object.fromEntries(questions), state };
}

function toThrown(data: unknown): ApiProblem {
  const status = isObject(data) ? Number(data['status']) : 0;
  return new ApiProblem(status, data);
}
