/** Adds names to the ids of audit rows, and turns names in searches into ids. */
import { parseQualifiedName, toQualifiedName } from '../shared/naming/qualified-name.ts';
import type { AuditFilter, OwnRows, PlacedEvent } from './audit-schema.ts';
import { toCallSubject } from './calls/call-schema.ts';
import { findIdsNamed, findNames, type NamedKind } from './name-store.ts';

/** A search as a client sends it: each party by id or by name. */
export interface AuditQuery extends Omit<
  AuditFilter,
  'own' | 'principalIds' | 'tokenIds' | 'subjects' | 'ofServers'
> {
  principal?: string | undefined;
  token?: string | undefined;
  subject?: string | undefined;
  server?: string | undefined;
  /** Qualified name, in any style. */
  tool?: string | undefined;
}

/** A row with the names of its ids; null if the name is not known. */
export interface NamedEvent extends PlacedEvent {
  principalName: string | null;
  tokenName: string | null;
  subjectName: string | null;
}

/** Kinds that belong to a principal, so that a caller may look up its own. */
const OWN_KINDS: ReadonlySet<NamedKind> = new Set(['principal', 'token', 'grant']);
/** The form of generated ids; any other text is a name. */
export const ID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Acts that a connector does itself have `connector:{id}` as their principal. */
const CONNECTOR = 'connector:';
const bare = (id: string) => (id.startsWith(CONNECTOR) ? id.slice(CONNECTOR.length) : id);

/** @param own set if only the caller's own rows are shown: names of subjects are then left out, since they may be hidden from it by now */
export async function withNames(
  db: D1Database,
  events: readonly PlacedEvent[],
  own?: OwnRows,
): Promise<NamedEvent[]> {
  const all = events.flatMap(({ principalId, tokenId, subject }) => [
    bare(principalId),
    bare(tokenId),
    ...(own ? [] : [subject]),
  ]);
  const ids = [...new Set(all)].filter(id => ID_FORM.test(id));
  const names = ids.length === 0 ? new Map<string, string>() : await findNames(db, ids);
  // A text that is not in the form of an id is a name already.
  const nameOf = (id: string) => (ID_FORM.test(id) ? (names.get(id) ?? null) : id);
  return events.map(event => ({
    ...event,
    principalName: nameOf(bare(event.principalId)),
    tokenName: nameOf(bare(event.tokenId)),
    subjectName: nameOf(event.subject),
  }));
}

/**
 * Returns the filter of a search, with the ids of the names in it.
 * @param own set if only the caller's own rows are shown: current and former names of servers and the like are not looked up then
 */
export async function toFilter(
  db: D1Database,
  { principal, token, subject, server, tool, ...rest }: AuditQuery,
  own?: OwnRows,
): Promise<AuditFilter> {
  const resolve = async (text: string | undefined, kinds: readonly NamedKind[]) => {
    const known = own ? kinds.filter(kind => OWN_KINDS.has(kind)) : kinds;
    if (text === undefined || known.length === 0) return text === undefined ? undefined : [text];
    return [text, ...(await findIdsNamed(db, known, text))];
  };
  const principalIds = await resolve(principal, ['principal', 'connector']);
  const servers = await resolve(server, ['server']);
  const known = servers && !own ? [...(await findNames(db, servers)).values()] : [];
  const names = [...known, server ?? ''];
  const subjects = await resolve(subject, [
    'principal',
    'token',
    'grant',
    'server',
    'toolset',
    'connector',
  ]);
  if (subject !== undefined) subjects?.push(toCallSubject(subject));
  const tools = tool === undefined ? undefined : subjectsOf(tool);
  return {
    ...rest,
    own,
    principalIds: principalIds?.flatMap(id => [id, `${CONNECTOR}${id}`]),
    tokenIds: await resolve(token, ['token', 'grant', 'connector']),
    subjects:
      subjects && tools ? subjects.filter(each => tools.includes(each)) : (tools ?? subjects),
    ofServers: servers && { ids: servers, names: [...new Set(names)] },
  };
}

/** Returns the subjects that rows for calls of a tool may have. */
export const subjectsOf = (tool: string): string[] =>
  parseQualifiedName(tool).map(parts =>
    toCallSubject(toQualifiedName(parts.server, parts.tool, 'dot')),
  );
