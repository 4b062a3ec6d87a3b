/** The viewer of a request: the caller, the servers that it sees, and how the endpoint names their items. */
import type { Caller } from '../access/policy/caller.ts';
import type { View } from '../access/policy/view.ts';
import type { ClientTraits } from '../servers/catalog/conditions.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { NameStyle } from '../shared/naming/qualified-name.ts';
import type { Renames } from './naming/renames.ts';

/** The servers that a request may use; steps make the set smaller, never larger. */
export interface VisibleServers {
  servers: readonly Server[];
  /** What the caller sees of a server, by its id; all of it if there is no view. */
  views?: ReadonlyMap<string, View>;
  /** The client's traits that decide what servers offer; absent if it has none. */
  client?: ClientTraits;
}

/** How names are written on an endpoint: qualified in a style, some of them replaced; or one server's own. */
export type Naming =
  { kind: 'qualified'; style: NameStyle; renames?: Renames } | { kind: 'own'; serverId: string };

/** `server.tool`, as REST and the product's own pages write it. */
export const DOT_NAMING = { kind: 'qualified', style: 'dot' } as const satisfies Naming;

/** What a caller sees, before the endpoint names it. */
export interface CallerView {
  caller: Caller;
  visible: VisibleServers;
}

export interface Viewer extends CallerView {
  naming: Naming;
}
