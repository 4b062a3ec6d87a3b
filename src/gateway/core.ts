/**
 * The core of the gateway: aggregates catalogs, resolves names, routes requests. Knows nothing of
 * HTTP, JSON-RPC or eras, asks no upstream for lists, and reaches only the visible servers it is given.
 */
import type { FindTools } from './search.ts';
import type { ListedItem, Listing, Naming, VisibleServers } from './listing.ts';
import {
  MAX_LIST_TTL_MS,
  type Catalog,
  type CatalogItem,
  type Kind,
} from '../servers/catalog/catalog.ts';
import { PLAIN_CLIENT, suited } from '../servers/catalog/conditions.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { RawObject } from '../shared/json/json-spans.ts';
import { Lru } from '../shared/util/lru.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import type { CallContext, CallReply } from '../upstream/protocol/call.ts';
import type { OutboundRequest } from '../upstream/protocol/wire-request.ts';
import type { CoreGateway } from './gateway.ts';
import { declaresOne, offeredExtensions, unknownExtensions } from './extensions.ts';
import { withLogLevel } from './results/log-filter.ts';
import { canSubscribe, toAdvertised } from './capabilities.ts';
import { toQualifiedName } from '../shared/naming/qualified-name.ts';
import { toQualifiedUri } from '../shared/naming/qualified-uri.ts';
import { toOutbound } from './outbound.ts';
import { described } from './naming/renames.ts';
import { resolve } from './resolve.ts';
import { filterCatalog } from './visible-catalog.ts';
import { failingAs, toServerFailure } from './server-failure.ts';
import { resultChanges } from './results/to-result.ts';
import { withoutUpdates } from './results/updates.ts';

export interface CorePorts {
  findTools: FindTools;
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  /** @param name the server's own name of what is asked for, for the mirrored header */
  call(
    server: Server,
    request: OutboundRequest,
    name: string | undefined,
    context: CallContext,
  ): Promise<CallReply>;
}

const MAX_LISTS = 64;

/** The gateway without decorators. */
export function createCore(ports: CorePorts): CoreGateway {
  const lists = new Lru<string, Listing>(MAX_LISTS);

  /** What is seen of a server's catalog. */
  async function seen({ views, client }: VisibleServers, server: Server): Promise<Catalog> {
    const catalog = suited(
      await ports.catalogOf(server),
      server.verdict?.era ?? 'legacy',
      client ?? PLAIN_CLIENT,
    );
    return filterCatalog(views?.get(server.id), catalog);
  }

  async function list(visible: VisibleServers, naming: Naming, kind: Kind): Promise<Listing> {
    const key = listKey(visible, naming, kind);
    const ofClient = `${key}\n${visible.client?.key ?? ''}`;
    const known = lists.get(key) ?? lists.get(ofClient);
    if (known) return known;
    const catalogs = await Promise.all(visible.servers.map(server => seen(visible, server)));
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

  return {
    async visible(_caller, visible) {
      const shown = await Promise.all(
        visible.servers.map(async server => {
          const view = visible.views?.get(server.id);
          return !view || view.rest || (await seen(visible, server)).tools.items.length > 0;
        }),
      );
      return { ...visible, servers: visible.servers.filter((_, i) => shown[i]) };
    },

    async subscription(_caller, visible, naming, uri) {
      const catalogOf = (server: Server) => seen(visible, server);
      const reference = { kind: 'resource', name: uri } as const;
      const { server, name } = await resolve(visible, naming, reference, { catalogOf, list });
      if (!canSubscribe(await catalogOf(server))) {
        throw new PorticoError('method_not_found', `${server.name} offers no subscriptions`);
      }
      const qualifier = naming.kind === 'qualified' ? { qualifier: server.name } : {};
      return { serverId: server.id, uri: name, as: uri, ...qualifier };
    },

    list: (_caller, visible, naming, kind) => list(visible, naming, kind),

    async find(_caller, visible, naming, name) {
      const catalogOf = (server: Server) => seen(visible, server);
      const found = await resolve(visible, naming, { kind: 'tool', name }, { catalogOf, list });
      if (!found.item) throw new PorticoError('tool_not_found', `Tool not found: ${name}`);
      return presented(found.server, found.item, naming, 'tools');
    },

    async search(_caller, visible, naming, request) {
      const { tools, ...counts } = await ports.findTools(visible, request);
      const hits = tools.map(async ({ server, tool, score, skills }) => {
        const item = (await seen(visible, server)).tools.byKey.get(tool);
        return item && { ...presented(server, item, naming, 'tools'), server, score, skills };
      });
      const found = await Promise.all(hits);
      return { hits: found.filter(hit => hit !== undefined), ...counts };
    },

    async advertise(_caller, visible, naming, tasks) {
      const offering = visible.servers.map(async server => {
        const catalog = await seen(visible, server);
        return { server: server.name, catalog, era: server.verdict?.era };
      });
      return toAdvertised(await Promise.all(offering), naming, tasks);
    },

    async request(_caller, visible, naming, request, context) {
      /** Whether a result may be of a type that only an extension of its server knows. */
      const takesOtherTypes = async (catalog: Catalog) => {
        const names = unknownExtensions(catalog);
        if (names.length === 0 || !declaresOne(request.params, names)) return false;
        if (naming.kind === 'own') return true;
        const all = await Promise.all(visible.servers.map(server => seen(visible, server)));
        const offered = offeredExtensions(all);
        return declaresOne(
          request.params,
          names.filter(name => name in offered),
        );
      };
      const { call } = ports;
      const catalogOf = (server: Server) => seen(visible, server);
      const resolved = await resolve(visible, naming, request.reference, { catalogOf, list });
      const { server, name } = resolved;
      const catalog = await catalogOf(server);
      const outbound = toOutbound(request, resolved, catalog.capabilities);
      const mirrored = request.method === 'completion/complete' ? undefined : name;
      const send = async (params: RawObject) => {
        try {
          const reply = await call(server, { ...outbound, params }, mirrored, context);
          const told = withoutUpdates(server, reply, context);
          return failingAs(server, withLogLevel(told, request.logLevel));
        } catch (error) {
          throw toServerFailure(server, error);
        }
      };
      const { params } = outbound;
      await context.beforeDispatch?.(resolved);
      const reply = context.dispatch
        ? await context.dispatch(resolved, () => send(params))
        : await send(params);
      const retry = (extra: RawObject) => send(new Map([...params, ...extra]));
      const toResult = resultChanges(request, resolved, naming);
      const types = (await takesOtherTypes(catalog)) ? { takesOtherTypes: true } : {};
      return { server, reply, retry, ...types, ...(toResult && { toResult }) };
    },
  };
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
