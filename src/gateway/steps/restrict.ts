/**
 * Restricts a viewer to what its caller sees. What the caller may not see, and what its own account at a server does not have, is removed
 * before anything is listed, looked up or called: so hidden is unknown, to every function of the gateway alike. Catalogs are filtered by
 * the view on their server. For one kind of client a server of both eras is used in the client's own era, and offers what it offers to
 * clients with these capabilities; from there on, a server has one era. Results are remembered beside what they were made from. Pure.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { Viewer, VisibleServers } from '../viewer.ts';
import { viewOfAccount } from '../../access/policy/account-view.ts';
import type { Policy } from '../../access/policy/policy.ts';
import { both, NOTHING, WHOLE, type View, type OtherKind } from '../../access/policy/view.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import {
  type Catalog,
  type CatalogItem,
  type CatalogKind,
  isReadOnly,
} from '../../servers/catalog/catalog.ts';
import { Lru } from '../../shared/util/lru.ts';
import { inEra } from '../../servers/registry/in-era.ts';
import type { ClientTraits } from '../../servers/catalog/conditions.ts';
import type { Era, JsonObject } from '../../shared/protocol.ts';
import { featuresOf } from '../../shared/client-capabilities.ts';

/** Keyed by what was restricted: visible servers with views or a client, or the list of servers of those without. */
const made = new WeakMap<Policy, WeakMap<VisibleServers | readonly Server[], VisibleServers>>();

/** Restricts a viewer to what its caller may see. */
export function restrict(viewer: Viewer): Viewer {
  return { ...viewer, visible: restrictToCaller(viewer.caller, viewer.visible) };
}

/** Restricts visible servers to a caller: drops servers of which it sees nothing, and puts its view on the others. */
export function restrictToCaller({ policy }: Caller, visible: VisibleServers): VisibleServers {
  let known = made.get(policy);
  if (!known) made.set(policy, (known = new WeakMap()));
  const key = visible.views || visible.client ? visible : visible.servers;
  const before = known.get(key);
  if (before) return before;
  const narrow = toNarrow(policy, visible);
  // What is restricted already stays as it is.
  known.set(key, narrow).set(narrow, narrow);
  return narrow;
}

function toNarrow(policy: Policy, visible: VisibleServers): VisibleServers {
  const views = new Map<string, View>();
  const servers = visible.servers.filter(server => {
    const given = visible.views?.get(server.id) ?? WHOLE;
    const view = both(both(policy.viewOf(server), given), viewOfAccount(server));
    if (view !== WHOLE) views.set(server.id, view);
    return view !== NOTHING;
  });
  return { ...visible, servers, views };
}

/** Most views that are remembered of one catalog. */
const MAX_VIEWS = 64;
/** Capabilities that concern what a view without `rest` hides. */
const OF_THE_REST = ['resources', 'prompts', 'completions'];
const OTHERS = ['resources', 'resourceTemplates', 'prompts'] as const satisfies OtherKind[];
const NONE: CatalogKind = { items: [], byKey: new Map() };

const remembered = new WeakMap<Catalog, Lru<string, Catalog>>();

/** Filters a catalog by a view; returns the same object for the same view. */
export function filterCatalog(view: View | undefined, catalog: Catalog): Catalog {
  if (!view || view.key === '') return catalog;
  let views = remembered.get(catalog);
  if (!views) {
    views = new Lru(MAX_VIEWS);
    remembered.set(catalog, views);
  }
  const held = views.get(view.key);
  if (held) return held;
  const kept = through(view, catalog);
  views.set(view.key, kept);
  return kept;
}

function through(view: View, catalog: Catalog): Catalog {
  const tools = only(catalog.tools, item => view.tool(item.key, isReadOnly(item)));
  if (view.rest) return { ...catalog, tools, ...othersOf(view, catalog) };
  const { instructions: _hidden, ttlMs, ...rest } = catalog;
  const capabilities = Object.fromEntries(
    Object.entries(catalog.capabilities).filter(([name]) => !OF_THE_REST.includes(name)),
  );
  const kept = tools.items.length > 0 && ttlMs.tools !== undefined ? { tools: ttlMs.tools } : {};
  const hidden = { resources: NONE, resourceTemplates: NONE, prompts: NONE };
  return { ...rest, ...hidden, tools, capabilities, ttlMs: kept };
}

/** Filters the other kinds, if a view tells their items apart. */
function othersOf({ other }: View, catalog: Catalog): Partial<Record<OtherKind, CatalogKind>> {
  if (!other) return {};
  return Object.fromEntries(
    OTHERS.map(kind => [kind, only(catalog[kind], ({ key }) => other(kind, key))]),
  );
}

function only({ items: all }: CatalogKind, isSeen: (item: CatalogItem) => boolean): CatalogKind {
  const items = all.filter(isSeen);
  return { items, byKey: new Map(items.map(item => [item.key, item])) };
}

/** Most kinds of clients for which the same visible servers are remembered. */
const MAX_CLIENTS = 80;

const madeForClients = new WeakMap<VisibleServers, Lru<string, VisibleServers>>();

/** Returns visible servers for one kind of client. @param capabilities the client capabilities (`clientCapabilitiesOf`) */
export function visibleToClient(
  visible: VisibleServers,
  era: Era,
  capabilities: JsonObject,
): VisibleServers {
  const client = traitsOf(capabilities);
  const key = `${era} ${client.key}`;
  let known = madeForClients.get(visible);
  if (!known) madeForClients.set(visible, (known = new Lru(MAX_CLIENTS)));
  const before = known.get(key);
  if (before) return before;
  const own = { ...visible, servers: visible.servers.map(server => inEra(server, era)), client };
  known.set(key, own);
  return own;
}

function traitsOf(capabilities: JsonObject): ClientTraits {
  const features = featuresOf(capabilities);
  return { features: new Set(features), key: features.join() };
}
