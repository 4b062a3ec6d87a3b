/** What is within reach of a request, and how an endpoint names and lists it. */
import type { View } from '../access/policy/view.ts';
import type { CatalogItem } from '../servers/catalog/catalog.ts';
import type { ClientTraits } from '../servers/catalog/conditions.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { NameStyle } from '../shared/naming/qualified-name.ts';
import type { Renames } from './naming/renames.ts';

/** The servers a request may reach; decorators make it smaller, never larger. */
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

/** What a list tells of a server. Lists are remembered while these stay; whoever needs the rest takes the record of its own visible servers. */
export type ListedServer = Pick<Server, 'id' | 'name'>;

/** One item as it is presented, in the order of the list. */
export interface ListedItem {
  /** Name, URI or URI template on this endpoint. */
  name: string;
  server: ListedServer;
  item: CatalogItem;
}

/** A whole list. */
export interface Listing {
  items: readonly ListedItem[];
  /** How long it may be taken for fresh, in milliseconds: the least of its servers. */
  ttlMs: number;
}

/** What a request is about, as the caller names it on its endpoint. */
export interface Reference {
  kind: 'tool' | 'prompt' | 'resource' | 'task';
  name: string;
  /** The server of a task, once its id has been opened (`with-tasks.ts`). */
  serverId?: string;
}
