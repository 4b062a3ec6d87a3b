/** Suggestions for a name that somebody is typing. */
import type {
  ApprovalPage,
  Principal,
  PrincipalPage,
  ServerPage,
  ToolsByServer,
  ToolsetPage,
} from '../generated/types.gen.ts';
import { request } from './request.ts';

interface Asking {
  signal: AbortSignal;
}

const LIMIT = 50;
const STALE_MS = 30_000;
/** Longest name of a server. */
const SERVER_CHARS = 63;
const PRINCIPAL_CHARS = 100;

const partOf = (typed: string, maxChars: number) =>
  typed === '' ? undefined : typed.slice(0, maxChars);

/** Principals whose name contains the typed text. */
export const principalsNamed = (typed: string) => ({
  queryKey: ['principals', 'named', typed],
  queryFn: ({ signal }: Asking) =>
    request<PrincipalPage>('principals', {
      query: { name: partOf(typed, PRINCIPAL_CHARS), limit: LIMIT },
      signal,
    }),
  staleTime: STALE_MS,
});

/** Servers whose name contains the typed text. */
export const serversNamed = (typed: string) => ({
  queryKey: ['servers', 'named', typed],
  queryFn: ({ signal }: Asking) =>
    request<ServerPage>('aggregator/servers', {
      query: { name: partOf(typed, SERVER_CHARS), limit: LIMIT },
      signal,
    }),
  staleTime: STALE_MS,
});

/** Toolsets whose name contains the typed text. */
export const toolsetsNamed = (typed: string) => ({
  queryKey: ['toolsets', 'named', typed],
  queryFn: ({ signal }: Asking) =>
    request<ToolsetPage>('toolsets', {
      query: { name: partOf(typed, SERVER_CHARS), limit: LIMIT },
      signal,
    }),
  staleTime: STALE_MS,
});

/** The server's own names of its tools: those that the caller may use, and those with an approval record. */
export const toolsOf = (server: string) => ({
  queryKey: ['tools', 'of', server],
  queryFn: async ({ signal }: Asking): Promise<string[]> => {
    const query = { name: partOf(server, SERVER_CHARS), limit: LIMIT };
    const { servers } = await request<ServerPage>('aggregator/servers', { query, signal });
    const id = servers.find(({ name }) => name === server)?.id;
    if (id === undefined) return [];
    const [usable, known] = await Promise.allSettled([
      request<ToolsByServer>('tools', { query: { server: id }, signal }),
      request<ApprovalPage>('approvals', {
        query: { server: id, state: 'any', kind: 'tool', limit: 500 },
        signal,
      }),
    ]);
    const names = [
      ...(usable.status === 'fulfilled'
        ? usable.value.servers.flatMap(({ tools }) => tools.map(tool => tool.original_name))
        : []),
      ...(known.status === 'fulfilled' ? known.value.approvals.map(({ name }) => name) : []),
    ];
    return [...new Set(names)].toSorted();
  },
  enabled: server !== '',
  staleTime: STALE_MS,
});

/** Finds the principals with exactly this name. @throws ApiProblem, Unreachable */
export async function principalsCalled(name: string): Promise<Principal[]> {
  const found: Principal[] = [];
  let cursor: string | undefined;
  do {
    const query = { name: partOf(name, PRINCIPAL_CHARS), limit: 500, cursor };
    const page = await request<PrincipalPage>('principals', { query });
    found.push(...page.principals.filter(each => each.name === name));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return found;
}
