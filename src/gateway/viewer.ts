/** Who looks at what: the caller, the servers within reach, and how the endpoint names what is there. */
import type { Caller } from '../access/policy/caller.ts';
import type { View } from '../access/policy/view.ts';
import type { ClientTraits } from '../servers/catalog/conditions.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { NameStyle } from '../shared/naming/qualified-name.ts';
import type { Renames } from './naming/renames.ts';

/** The servers a request may reach; steps make it smaller, never larger. */
export interface VisibleServers {
  servers: readonly Server[];
  /** What is seen of a server, by its id; all of it where there is none. */
  views?: ReadonlyMap<string, View>;
  /** What servers are told of the client; without it, that it has nothing. */
  client?: ClientTraits;
}

/** How names are written on an endpoint: qualified in a style, some of them replaced, or one server's own. */
export type Naming =
  { kind: 'qualified'; style: NameStyle; renames?: Renames } | { kind: 'own'; serverId: string };

/** `server.tool`, as REST and the product's own pages have it. */
export const DOT_NAMING = { kind: 'qualified', style: 'dot' } as const satisfies Naming;

/** What a caller sees, before it is known how that is named. */
export interface CallerView {
  caller: Caller;
  visible: VisibleServers;
}

export interface Viewer extends CallerView {
  naming: Naming;
}
