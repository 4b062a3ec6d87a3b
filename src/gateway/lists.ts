/**
 * What a viewer finds: lists of what servers have, one item by its name, hits of a search, and what the servers can do. All of it comes
 * from catalogs; no server is asked. Knows nothing of HTTP, JSON-RPC or eras.
 */
import type { FindTools, SearchRequest, SearchResult } from './search.ts';
import type { ListedItem, Listing, Reference } from './listing.ts';
import type { Naming, Viewer, VisibleServers } from './viewer.ts';
import {
  MAX_LIST_TTL_MS,
  type Catalog,
  type CatalogItem,
  type Kind,
} from '../servers/catalog/catalog.ts';
import { PLAIN_CLIENT, suited } from '../servers/catalog/conditions.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { Subscription } from '../shared/events.ts';
import type { Era } from '../shared/protocol.ts';
import { Lru } from '../shared/util/lru.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import type { AdvertisedCapabilities } from './gateway.ts';
import { canSubscribe, toAdvertised } from './capabilities.ts';
import { toQualifiedName } from '../shared/naming/qualified-name.ts';
import { toQualifiedUri } from '../shared/naming/qualified-uri.ts';
import { described } from './naming/renames.ts';
import { resolve, type Resolved } from './resolve.ts';
import { filterCatalog } from './visible-catalog.ts';

export interface ListPorts {
  findTools: FindTools;
  catalogOf(server: Server): Catalog | Promise<Catalog>;
}

/** `Gateway`, as far as it reads catalogs, for viewers who see what they are given. */
export interface Lists {
  /** What is seen of a server's catalog. */
  catalogOf(visible: VisibleServers, server: Server): Catalog | Promise<Catalog>;
  visible(viewer: Viewer): Promise<VisibleServers>;
  list(viewer: Viewer, kind: Kind): Promise<Listing>;
  /** The server and the item that a reference means. @throws PorticoError as `resolve` */
  resolve(viewer: Viewer, reference: Reference): Promise<Resolved>;
  find(viewer: Viewer, name: string): Promise<ListedItem>;
  search(viewer: Viewer, request: SearchRequest): Promise<SearchResult>;
  advertise(viewer: Viewer, tasks?: Era): Promise<AdvertisedCapabilities>;
  subscription(viewer: Viewer, uri: string): Promise<Subscription>;
}

const MAX_LISTS = 64;

export function createLists(ports: ListPorts): Lists {
  const lists = new Lru<string, Listing>(MAX_LISTS);

  function catalogOf(visible: VisibleServers, server: Server): Catalog | Promise<Catalog> {
    const known = ports.catalogOf(server);
    const seen = (catalog: Catalog) => seenOf(visible, server, catalog);
    return known instanceof Promise ? known.then(seen) : seen(known);
  }

  async function list({ visible, naming }: Viewer, kind: Kind): Promise<Listing> {
    const key = listKey(visible, naming, kind);
    const ofClient = `${key}\n${visible.client?.key ?? ''}`;
    const known = lists.get(key) ?? lists.get(ofClient);
    if (known) return known;
    const catalogs = await Promise.all(visible.servers.map(server => catalogOf(visible, server)));
    const items = visible.servers.flatMap((server, i) =>
      (catalogs[i]?.[kind].items ?? []).map(item => presented(server, item, naming, kind)),
    );
    // A catalog nobody has any more stands in as empty and must not be remembered.
    const complete = visible.servers.every(
      ({ catalogHash, status }, i) =>
        !isOffered(status) || (catalogHash ?? '') === catalogs[i]?.hash,
    );
    if (!complete) return { items, ttlMs: 0 };
    const ttls = catalogs.map(({ ttlMs }) => ttlMs[kind] ?? MAX_LIST_TTL_MS);
    const listing = { items, ttlMs: Math.min(MAX_LIST_TTL_MS, ...ttls) };
    const isForAll = catalogs.every(({ conditions }) => conditions === undefined);
    lists.set(isForAll ? key : ofClient, listing);
    return listing;
  }

  const find = (viewer: Viewer, reference: Reference) =>
    resolve(viewer, reference, { catalogOf: server => catalogOf(viewer.visible, server), list });

  return {
    catalogOf,
    list,
    resolve: find,

    async visible({ visible }) {
      const shown = await Promise.all(
        visible.servers.map(async server => {
          const view = visible.views?.get(server.id);
          return !view || view.rest || (await catalogOf(visible, server)).tools.items.length > 0;
        }),
      );
      return { ...visible, servers: visible.servers.filter((_, i) => shown[i]) };
    },

    async find(viewer, name) {
      const found = await find(viewer, { kind: 'tool', name });
      if (!found.item) throw new PorticoError('tool_not_found', `Tool not found: ${name}`);
      return presented(found.server, found.item, viewer.naming, 'tools');
    },

    async search({ visible, naming }, request) {
      const { tools, ...counts } = await ports.findTools(visible, request);
      const hits = tools.map(async ({ server, tool, score, skills }) => {
        const item = (await catalogOf(visible, server)).tools.byKey.get(tool);
        return item && { ...presented(server, item, naming, 'tools'), server, score, skills };
      });
      const found = await Promise.all(hits);
      return { hits: found.filter(hit => hit !== undefined), ...counts };
    },

    async advertise({ visible, naming }, tasks) {
      const offering = visible.servers.map(async server => {
        const catalog = await catalogOf(visible, server);
        return { server: server.name, catalog, era: server.verdict?.era };
      });
      return toAdvertised(await Promise.all(offering), naming, tasks);
    },

    async subscription(viewer, uri) {
      const { server, name } = await find(viewer, { kind: 'resource', name: uri });
      if (!canSubscribe(await catalogOf(viewer.visible, server))) {
        throw new PorticoError('method_not_found', `${server.name} offers no subscriptions`);
      }
      const qualifier = viewer.naming.kind === 'qualified' ? { qualifier: server.name } : {};
      return { serverId: server.id, uri: name, as: uri, ...qualifier };
    },
  };
}

function seenOf({ views, client }: VisibleServers, server: Server, catalog: Catalog): Catalog {
  const own = suited(catalog, server.verdict?.era ?? 'legacy', client ?? PLAIN_CLIENT);
  return filterCatalog(views?.get(server.id), own);
}

/** An item as an endpoint presents it. */
function presented(server: Server, item: CatalogItem, naming: Naming, kind: Kind): ListedItem {
  if (naming.kind === 'own') return { name: item.key, server, item };
  if (kind === 'resources' || kind === 'resourceTemplates') {
    return { name: toQualifiedUri(server.name, item.key), server, item };
  }
  const name = toQualifiedName(server.name, item.key, naming.style);
  const renamed = kind === 'tools' ? naming.renames?.of(server.id, item.key) : undefined;
  if (!renamed) return { name, server, item };
  return { name: renamed.name ?? name, server, item: described(item, renamed) };
}

/** Equal for equal lists but for what depends on the client: the servers with their names, eras, catalogs and views, the naming and the kind. */
function listKey({ servers, views }: VisibleServers, naming: Naming, kind: Kind): string {
  const style = naming.kind === 'own' ? 'own' : `${naming.style} ${naming.renames?.key ?? ''}`;
  const facts = servers.map(({ id, name, catalogHash, status, verdict }) => {
    const hash = isOffered(status) ? catalogHash : '';
    return `${id} ${name} ${hash} ${verdict?.era} ${views?.get(id)?.key ?? ''}`;
  });
  return `${kind} ${style}\n${facts.join('\n')}`;
}
