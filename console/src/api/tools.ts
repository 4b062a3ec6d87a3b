/** Tools: those that one may use, what a search finds of them, and calling one. */
import type { SearchResult, ToolResult, ToolsByServer } from '../generated/types.gen.ts';
import { streamEvents } from './events.ts';
import { ApiProblem, request } from './request.ts';

interface Asking {
  signal: AbortSignal;
}

/** A tool as its server describes it. */
export interface ListedTool {
  /** `server.tool`. */
  name: string;
  description: string;
  schema: unknown;
}

/** Tools of one page of the list. */
const PAGE = 100;
/** Most that a search finds. */
const MAX_FOUND = 50;

const toText = (value: unknown) => (typeof value === 'string' ? value : '');

/** The tools of a page, whatever server they are of. */
export const toTools = ({ servers }: ToolsByServer): ListedTool[] =>
  servers.flatMap(({ tools }) =>
    tools.map(({ name, description, inputSchema: schema }) => ({
      name,
      description: toText(description),
      schema,
    })),
  );

/** The list page by page, for `useInfiniteQuery`. */
export const toolsQuery = () => ({
  queryKey: ['tools', 'list'],
  queryFn: ({ signal, pageParam: cursor }: Asking & { pageParam: string }) =>
    request<ToolsByServer>('tools', { query: { limit: PAGE, cursor }, signal }),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: ToolsByServer) => next,
});

/** One tool; undefined where there is none of this name. */
export const toolQuery = (name: string) => ({
  queryKey: ['tools', 'one', name],
  queryFn: async ({ signal }: Asking) => {
    const page = await request<ToolsByServer>('tools', { query: { tool: name }, signal });
    // Nothing is null: the cache takes no undefined.
    return toTools(page)[0] ?? null;
  },
});

/** Server and own name of the tool that is called so, or undefined. @throws ApiProblem, Unreachable */
export async function findTool(name: string) {
  const { servers } = await request<ToolsByServer>('tools', { query: { tool: name } });
  const all = servers.flatMap(server =>
    server.tools.map(({ original_name: tool }) => ({ server: server.name, tool })),
  );
  return all[0];
}

/** What fits the words, the best first, as a model is told. */
export const searchQuery = (query: string) => ({
  queryKey: ['search', query],
  queryFn: ({ signal }: Asking) =>
    request<SearchResult>('search', { method: 'POST', body: { query, limit: MAX_FOUND }, signal }),
  enabled: query.trim() !== '',
});

/** What a server wants to know, or to be done, before its tool goes on. Nothing in it is trusted to be so. */
export interface Question {
  method: string;
  params: Readonly<Record<string, unknown>>;
}

/** What a person says to it. */
export interface Answer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}

/** Questions by their keys, and what the next call brings along. */
export interface Asked {
  questions: Readonly<Record<string, Question>>;
  state: unknown;
}

/** News of a call that goes on. */
export type News = { type: 'progress' | 'log'; data: Readonly<Record<string, unknown>> };

interface Round {
  name: string;
  args: Record<string, unknown>;
  /** What was asked, and the answers by their keys. */
  answered?: { state: unknown; answers: Record<string, Answer> };
}

/**
 * Call a tool, once: what it answers, or what its server asks; then it goes on with the answers.
 * @throws ApiProblem, Unreachable
 */
export async function callTool(
  { name, args, answered }: Round,
  hear: (news: News) => void,
  signal: AbortSignal,
): Promise<{ result: ToolResult } | { asked: Asked }> {
  let ending: { result: ToolResult } | { asked: Asked } | { thrown: ApiProblem } | undefined;
  const body = {
    name,
    arguments: args,
    ...(answered && {
      input_responses: answered.answers,
      ...(typeof answered.state === 'string' && { request_state: answered.state }),
    }),
  };
  const hearEvent = (type: string, data: unknown) => {
    if (type === 'result') ending = { result: data as ToolResult };
    else if (type === 'input_required') ending = { asked: toAsked(data) };
    else if (type === 'error') ending = { thrown: toThrown(data) };
    else if (type === 'progress' || type === 'log') hear({ type, data: data as News['data'] });
  };
  await streamEvents('tools/call', { body, signal }, hearEvent);
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
