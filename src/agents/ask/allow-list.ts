/**
 * What an operator allows to be asked for. Pure. Nothing is allowed without an entry. An entry may stand for many tools by patterns, but
 * what is not annotated as read-only needs one that names exactly its server and tool and says `side_effects`.
 */
import {
  EVERYTHING,
  matches,
  matchesServer,
  type NamedServer,
} from '../../shared/util/name-pattern.ts';
import { NOTHING, type View } from '../../access/policy/view.ts';

export interface AllowEntry {
  /** Pattern over servers as it is stored: one that is named exactly by its id. */
  server: string;
  /** Pattern over the tools' own names. */
  tool: string;
  sideEffects: boolean;
}

/** Whether an entry stands for the tool, whatever the tool does. */
export function isAllowed(
  entries: readonly AllowEntry[],
  server: NamedServer,
  tool: string,
): boolean {
  return entries.some(entry => matchesServer(entry.server, server) && matches(entry.tool, tool));
}

/** Whether an entry names exactly this tool and says that it may change something. */
export function mayChange(
  entries: readonly AllowEntry[],
  { id }: NamedServer,
  tool: string,
): boolean {
  return entries.some(entry => entry.sideEffects && isExact(entry, id, tool));
}

const isExact = (entry: AllowEntry, id: string, tool: string) =>
  entry.server === id && entry.tool === tool && !tool.includes(EVERYTHING);

/** The tools of a server that may be asked for: with it visible servers hold the discovered tools that are allowed, and no others. */
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
