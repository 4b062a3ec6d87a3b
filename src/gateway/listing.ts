/** How an endpoint lists what a caller sees, and how the caller refers to it. */
import type { CatalogItem } from '../servers/catalog/catalog.ts';
import type { Server } from '../servers/registry/server-schema.ts';

/**
 * What a list keeps of a server. A list is remembered while these members stay the same; code that needs the rest takes the record from its
 * visible servers.
 */
export type ListedServer = Pick<Server, 'id' | 'name'>;

/** One item as it is presented, in the order of the list. */
export interface ListedItem {
  /** Name, URI or URI template on this endpoint. */
  name: string;
  server: ListedServer;
  item: CatalogItem;
  /** A toolset gave it its name, which may be the server's own. */
  isRenamed?: true;
}

/** A whole list. */
export interface Listing {
  items: readonly ListedItem[];
  /** How long the list counts as fresh, in milliseconds: the least of its servers. */
  ttlMs: number;
  /** Whether every catalog was there; nothing made from an incomplete list is remembered. */
  isWhole: boolean;
}

/** What a request is about, as the caller names it on its endpoint. */
export interface Reference {
  kind: 'tool' | 'prompt' | 'resource' | 'task';
  name: string;
  /** The server of a task, once its id has been opened (`steps/tasks.ts`). */
  serverId?: string;
}
