/** Audit rows with names beside their ids, and searches by names in place of ids. */
import { parseQualifiedName, toQualifiedName } from '../shared/naming/qualified-name.ts';
import type { AuditFilter, PlacedEvent } from './audit-schema.ts';
import { findIdsNamed, findNames, type NamedKind } from './name-store.ts';

/** A search as it is asked for: each by id or by name. */
export interface AuditQuery extends Omit<
  AuditFilter,
  'principalIds' | 'tokenIds' | 'subjects' | 'ofServers'
> {
  principal?: string | undefined;
  token?: string | undefined;
  subject?: string | undefined;
  server?: string | undefined;
  /** Qualified name, in any style. */
  tool?: string | undefined;
}

/** A row with what its ids are called; null where nobody knows. */
export interface NamedEvent extends PlacedEvent {
  principalName: string | null;
  tokenName: string | null;
  subjectName: string | null;
}

const ID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** What a connector does itself is done by `connector:{id}`. */
const CONNECTOR = 'connector:';
const bare = (id: string) => (id.startsWith(CONNECTOR) ? id.slice(CONNECTOR.length) : id);

export async function withNames(
  db: D1Database,
  events: readonly PlacedEvent[],
): Promise<NamedEvent[]> {
  const all = events.flatMap(({ principalId, tokenId, subject }) => [
    bare(principalId),
    bare(tokenId),
    subject,
  ]);
  const ids = [...new Set(all)].filter(id => ID_FORM.test(id));
  const names = ids.length === 0 ? new Map<string, string>() : await findNames(db, ids);
  // What has not the form of an id is a name already.
  const nameOf = (id: string) => (ID_FORM.test(id) ? (names.get(id) ?? null) : id);
  return events.map(event => ({
    ...event,
    principalName: nameOf(bare(event.principalId)),
    tokenName: nameOf(bare(event.tokenId)),
    subjectName: nameOf(event.subject),
  }));
}

/** The filter of a search, with the ids that its names stand for. */
export async function toFilter(
  db: D1Database,
  { principal, token, subject, server, tool, ...rest }: AuditQuery,
): Promise<AuditFilter> {
  const resolve = async (text: string | undefined, kinds: readonly NamedKind[]) =>
    text === undefined ? undefined : [text, ...(await findIdsNamed(db, kinds, text))];
  const principalIds = await resolve(principal, ['principal', 'connector']);
  const servers = await resolve(server, ['server']);
  const names = servers && [...(await findNames(db, servers)).values(), server ?? ''];
  const subjects = await resolve(subject, [
    'principal',
    'token',
    'grant',
    'server',
    'toolset',
    'connector',
  ]);
  const tools = tool === undefined ? undefined : subjectsOf(tool);
  return {
    ...rest,
    principalIds: principalIds?.flatMap(id => [id, `${CONNECTOR}${id}`]),
    tokenIds: await resolve(token, ['token', 'grant', 'connector']),
    subjects:
      subjects && tools ? subjects.filter(each => tools.includes(each)) : (tools ?? subjects),
    ofServers: servers && { ids: servers, names: [...new Set(names)] },
  };
}

/** What rows of calls of a tool may have as their subject. */
const subjectsOf = (tool: string): string[] =>
  parseQualifiedName(tool).map(parts => toQualifiedName(parts.server, parts.tool, 'dot'));
