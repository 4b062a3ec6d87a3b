/** Tools: those that one may use, what a search finds of them, and calling one. */
import type { SearchResult, ToolResult, ToolsByServer } from '../generated/types.gen.ts';
import { request } from './request.ts';

/** A tool as its server describes it. */
export interface ListedTool {
  /** `server.tool`. */
  name: string;
  server: string;
  description: string;
  schema: unknown;
}

const toText = (value: unknown) => (typeof value === 'string' ? value : '');

/** The tools of all servers in one list. */
export const toTools = ({ servers }: ToolsByServer): ListedTool[] =>
  servers.flatMap(({ name: server, tools }) =>
    tools.map(({ name, description, inputSchema: schema }) => ({
      name,
      server,
      description: toText(description),
      schema,
    })),
  );

export const toolsQuery = () => ({
  queryKey: ['tools'],
  queryFn: ({ signal }: { signal: AbortSignal }) => request<ToolsByServer>('tools', { signal }),
  select: toTools,
});

/** Names of what fits, the best first, as a model is told. */
export const searchQuery = (query: string) => ({
  queryKey: ['search', query],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<SearchResult>('search', { method: 'POST', body: { query, limit: 50 }, signal }),
  enabled: query !== '',
});

/** Call a tool. It is called once, whatever comes back. */
export const callTool = (name: string, args: Record<string, unknown>, signal: AbortSignal) =>
  request<ToolResult>('tools/call', { method: 'POST', body: { name, arguments: args }, signal });
