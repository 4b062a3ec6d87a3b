/**
 * What a viewer finds: lists of items, one item by its name, hits of a search, and the servers' capabilities. All of it comes from
 * catalogs; nothing is sent to a server. Knows nothing of HTTP, JSON-RPC or eras.
 */
import type { FindTools, SearchHit, SearchRequest, SearchResult } from './search.ts';
import type { ListedItem, Listing, Reference } from './listing.ts';
import type { Naming, Viewer, VisibleServers } from './viewer.ts';
import {
  EMPTY_CATALOG,
  MAX_LIST_TTL_MS,
  type Catalog,
  type CatalogItem,
  type Kind,
} from '../servers/catalog/catalog.ts';
import { PLAIN_CLIENT, suited } from '../servers/catalog/conditions.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { Subscription } from '../shared/events.ts';
import type { Era } from '../shared/protocol.ts';
import { sha256Hex } from '../shared/crypto/base64url.ts';
import { Lru } from '../shared/util/lru.ts';
import { keepsSessions } from '../servers/registry/keeps-sessions.ts';
import { isOfAccounts } from '../servers/registry/own-account.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import type { AdvertisedCapabilities } from './gateway.ts';
import { canSubscribe, toAdvertised } from './capabilities.ts';
import { toQualifiedName } from '../shared/naming/qualified-name.ts';
import { toQualifiedUri } from '../shared/naming/qualified-uri.ts';
import { described } from './naming/renames.ts';
import { resolve, type Resolved } from './resolve.ts';
import { listedHash, listsStandIn, standInCatalog, standInScore } from './stand-in.ts';
import { filterCatalog } from './steps/restrict.ts';

export interface ListPorts {
  findTools: FindTools;
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  /** In the order of the servers. */
  catalogsOf(servers: readonly Server[]): Promise<Catalog[]>;
}

/** The part of `Gateway` that reads catalogs, for viewers that are already restricted. */
export interface Lists {
  /** Returns the visible part of a server's catalog. */
  catalogOf(visible: VisibleServers, server: Server): Catalog | Promise<Catalog>;
  /** Returns the visible parts of all servers' catalogs, in their order. */
  catalogsOf(visible: VisibleServers): Promise<Catalog[]>;
  visible(viewer: Viewer): Promise<VisibleServers>;
  list(viewer: Viewer, kind: Kind): Promise<Listing>;
  /** Finds the server and the item of a reference. @throws PorticoError as `resolve` */
  resolve(viewer: Viewer, reference: Reference): Promise<Resolved>;
  find(viewer: Viewer, name: string): Promise<ListedItem>;
  search(viewer: Viewer, request: SearchRequest): Promise<SearchResult>;
  advertise(viewer: Viewer, tasks?: Era): Promise<AdvertisedCapabilities>;
  subscription(viewer: Viewer, uri: string): Promise<Subscription>;
}

/** Most list items in memory, all lists together; one takes some 150 bytes besides its catalog. */
const MAX_ITEMS = 50_000;
/** Each list counts for this many items more than it has. */
const LIST_ITEMS = 100;

export function createLists(ports: ListPorts): Lists {
  const lists = new Lru<string, Listing>(MAX_ITEMS, ({ items }) => items.length + LIST_ITEMS);

  function catalogOf(visible: VisibleServers, server: Server): Catalog | Promise<Catalog> {
    const known = ports.catalogOf(server);
    const seen = (catalog: Catalog) => seenOf(visible, server, catalog);
    return known instanceof Promise ? known.then(seen) : seen(known);
  }

  async function catalogsOf(
    visible: VisibleServers,
    servers: readonly Server[] = visible.servers,
  ): Promise<Catalog[]> {
    const catalogs = await ports.catalogsOf(servers);
    return servers.map((server, i) => seenOf(visible, server, catalogs[i] ?? EMPTY_CATALOG));
  }

  async function list({ visible, naming }: Viewer, kind: Kind): Promise<Listing> {
    const style = naming.kind === 'own' ? 'own' : `${naming.style} ${naming.renames?.key ?? ''}`;
    const key = `${kind} ${style}\n${await digestOf(visible)}`;
    const ofClient = `${key}\n${visible.client?.key ?? ''}`;
    const known = lists.get(key) ?? lists.get(ofClient);
    if (known) return known;
    const catalogs = await catalogsOf(visible);
    const items = visible.servers.flatMap((server, i) =>
      (catalogs[i]?.[kind].items ?? []).map(item => presented(server, item, naming, kind)),
    );
    // A catalog that is stored nowhere any more comes as empty; a list with it must not be remembered.
    const isWhole = visible.servers.every(
      (server, i) => !isOffered(server.status) || listedHash(server) === catalogs[i]?.hash,
    );
    if (!isWhole) return { items, ttlMs: 0, isWhole };
    const ttls = catalogs.map(({ ttlMs }) => ttlMs[kind] ?? MAX_LIST_TTL_MS);
    const listing = { items, ttlMs: Math.min(MAX_LIST_TTL_MS, ...ttls), isWhole };
    const isForAll = catalogs.every(({ conditions }) => conditions === undefined);
    lists.set(isForAll ? key : ofClient, listing);
    return listing;
  }

  const find = (viewer: Viewer, reference: Reference) =>
    resolve(viewer, reference, {
      catalogOf: server => catalogOf(viewer.visible, server),
      catalogsOf,
      list,
    });

  return {
    catalogOf,
    catalogsOf,
    list,
    resolve: find,

    async visible({ visible }) {
      const isPartly = ({ id }: Server) => visible.views?.get(id)?.rest === false;
      const partly = visible.servers.filter(isPartly);
      const catalogs = await catalogsOf(visible, partly);
      const empty = new Set(partly.filter((_, i) => catalogs[i]?.tools.items.length === 0));
      return { ...visible, servers: visible.servers.filter(server => !empty.has(server)) };
    },

    async find(viewer, name) {
      const found = await find(viewer, { kind: 'tool', name });
      if (!found.item) throw new PorticoError('tool_not_found', `Tool not found: ${name}`);
      return presented(found.server, found.item, viewer.naming, 'tools');
    },

    async search({ caller, visible, naming }, request) {
      const { tools, ...counts } = await ports.findTools(visible, request, caller.principalId);
      const catalogs = await catalogsOf(
        visible,
        tools.map(({ server }) => server),
      );
      const hits = tools.flatMap(({ server, tool, score, skills }, i) => {
        const item = catalogs[i]?.tools.byKey.get(tool);
        if (!item) return [];
        return [{ ...presented(server, item, naming, 'tools'), server, score, skills }];
      });
      return withStandIns({ hits, ...counts }, visible, naming, request);
    },

    async advertise({ visible, naming }, tasks) {
      const catalogs = await catalogsOf(visible);
      const offering = visible.servers.map((server, i) => {
        const catalog = catalogs[i] ?? EMPTY_CATALOG;
        return { server: server.name, catalog, era: server.verdict?.era };
      });
      return toAdvertised(offering, naming, tasks);
    },

    async subscription(viewer, uri) {
      const { server, name } = await find(viewer, { kind: 'resource', name: uri });
      if (!canSubscribe(await catalogOf(viewer.visible, server))) {
        throw new PorticoError('method_not_found', `${server.name} offers no subscriptions`);
      }
      if (isOfAccounts(server) && !keepsSessions(server)) {
        // The monitor subscribes with an account that is not the caller's.
        throw new PorticoError(
          'method_not_found',
          `${server.name} has no subscriptions for personal accounts`,
        );
      }
      const qualifier = viewer.naming.kind === 'qualified' ? { qualifier: server.name } : {};
      return { serverId: server.id, uri: name, as: uri, ...qualifier };
    },
  };
}

function seenOf({ views, client }: VisibleServers, server: Server, catalog: Catalog): Catalog {
  const standIn = server.needsAccount && standInCatalog(server);
  if (standIn) return standIn;
  const isForAll = !catalog.conditions && !catalog.legacyCapabilities;
  const era = server.verdict?.era ?? 'legacy';
  const own = isForAll ? catalog : suited(catalog, era, client ?? PLAIN_CLIENT);
  return filterCatalog(views?.get(server.id), own);
}

/** Adds to the hits the stand-in tools of servers whose catalogs could not be read yet. */
function withStandIns(
  found: SearchResult,
  { servers }: VisibleServers,
  naming: Naming,
  { query, limit, servers: only, skill }: SearchRequest,
): SearchResult {
  const isWanted = ({ id, name }: Server) => !only || only.includes(name) || only.includes(id);
  const unread = servers.filter(server => listsStandIn(server) && isWanted(server));
  if (unread.length === 0 || skill !== undefined) return found;
  const more = unread.flatMap((server): SearchHit[] => {
    const [item] = standInCatalog(server)?.tools.items ?? [];
    const score = standInScore(server, query);
    if (!item || score === 0) return [];
    return [{ ...presented(server, item, naming, 'tools'), server, score, skills: undefined }];
  });
  const hits = [...found.hits, ...more].toSorted((a, b) => b.score - a.score).slice(0, limit);
  const serversSearched = found.serversSearched + unread.length;
  const toolsSearched = found.toolsSearched + unread.length;
  return { ...found, hits, serversSearched, toolsSearched };
}

/** Returns an item as an endpoint presents it. */
function presented(server: Server, item: CatalogItem, naming: Naming, kind: Kind): ListedItem {
  if (naming.kind === 'own') return { name: item.key, server, item };
  if (kind === 'resources' || kind === 'resourceTemplates') {
    return { name: toQualifiedUri(server.name, item.key), server, item };
  }
  const name = toQualifiedName(server.name, item.key, naming.style);
  const renamed = kind === 'tools' ? naming.renames?.of(server.id, item.key) : undefined;
  if (!renamed) return { name, server, item };
  return { name: renamed.name ?? name, server, item: described(item, renamed), isRenamed: true };
}

const digests = new WeakMap<VisibleServers, string>();

/**
 * Returns a digest that is equal for equal lists, apart from naming, kind and what depends on the client. It covers the servers with their
 * names, eras, catalogs and views. Visible servers are the same object while nothing changes, so the digest of a thousand servers is seldom
 * computed.
 */
async function digestOf(visible: VisibleServers): Promise<string> {
  const known = digests.get(visible);
  if (known !== undefined) return known;
  const facts = visible.servers.map(server => {
    const { id, name, verdict } = server;
    const hash = listedHash(server);
    return `${id} ${name} ${hash} ${verdict?.era} ${visible.views?.get(id)?.key ?? ''}`;
  });
  const digest = await sha256Hex(facts.join('\n'));
  digests.set(visible, digest);
  return digest;
}
