/**
 * What an operator allows ask to call. Pure. Nothing is allowed without an entry. An entry may cover many tools by patterns, but a tool
 * that is not annotated as read-only needs an entry that names exactly its server and tool and says `side_effects`.
 */
import {
  EVERYTHING,
  matches,
  matchesServer,
  type NamedServer,
} from '../../shared/util/name-pattern.ts';
import { NOTHING, type View } from '../../access/policy/view.ts';

export interface AllowEntry {
  /** Stored pattern over servers; a server named exactly is stored by its id. */
  server: string;
  /** Pattern over the tools' own names. */
  tool: string;
  sideEffects: boolean;
}

/** Whether an entry covers the tool, regardless of what the tool does. */
export function isAllowed(
  entries: readonly AllowEntry[],
  server: NamedServer,
  tool: string,
): boolean {
  return entries.some(entry => matchesServer(entry.server, server) && matches(entry.tool, tool));
}

/** Whether an entry names exactly this tool and allows it to change something. */
export function mayChange(
  entries: readonly AllowEntry[],
  { id }: NamedServer,
  tool: string,
): boolean {
  return entries.some(entry => entry.sideEffects && isExact(entry, id, tool));
}

const isExact = (entry: AllowEntry, id: string, tool: string) =>
  entry.server === id && entry.tool === tool && !tool.includes(EVERYTHING);

/**
 * Returns the view of a server's tools that ask may call. Combined with it, visible servers contain only tools that are discovered and
 * allowed.
 */
export function allowedView(entries: readonly AllowEntry[], server: NamedServer): View {
  const ofServer = entries.filter(entry => matchesServer(entry.server, server));
  if (ofServer.length === 0) return NOTHING;
  const facts = ofServer.map(({ tool, sideEffects }) => [tool, sideEffects]);
  return {
    key: `ask ${JSON.stringify(facts)}`,
    rest: false,
    tool: (name, isReadOnly) =>
      isAllowed(ofServer, server, name) && (isReadOnly || mayChange(ofServer, server, name)),
  };
}
