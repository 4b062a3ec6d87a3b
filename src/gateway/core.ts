/**
 * The core of the gateway: aggregates catalogs, resolves names, routes requests. Knows nothing of
 * HTTP, JSON-RPC or eras, asks no upstream for lists, and reaches only what its `reach` holds.
 */
import type { Catalog, Kind } from '../catalog/catalog.ts';
import { PorticoError } from '../errors/portico-error.ts';
import { fromRawMembers, rawElements, rawMembers, type RawObject } from '../lib/json-spans.ts';
import { Lru } from '../lib/lru.ts';
import type { Server } from '../registry/server-schema.ts';
import type { CallContext, CallReply } from '../upstream/upstreams.ts';
import type { OutboundRequest } from '../upstream/wire-request.ts';
import type { Gateway, ListedItem, Naming, Reach, RelayedRequest } from './gateway.ts';
import { toOffer } from './offer.ts';
import { toQualifiedName } from './qualified-name.ts';
import { toQualifiedUri } from './qualified-uri.ts';
import { resolve } from './resolve.ts';
import { ServerFailure } from './server-failure.ts';

export interface CorePorts {
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
export function createCore(ports: CorePorts): Gateway {
  const lists = new Lru<string, readonly ListedItem[]>(MAX_LISTS);

  async function list(reach: Reach, naming: Naming, kind: Kind): Promise<readonly ListedItem[]> {
    const key = listKey(reach, naming, kind);
    const known = lists.get(key);
    if (known) return known;
    const catalogs = await Promise.all(reach.servers.map(server => ports.catalogOf(server)));
    const listed = reach.servers.flatMap((server, i) =>
      (catalogs[i]?.[kind].items ?? []).map(item => ({
        name: presentedName(server.name, item.key, naming, kind),
        server,
        item,
      })),
    );
    // A catalog nobody has any more stands in as empty and must not be remembered.
    const complete = reach.servers.every(
      ({ catalogHash, status }, i) =>
        status === 'DISCONNECTED' || (catalogHash ?? '') === catalogs[i]?.hash,
    );
    if (complete) lists.set(key, listed);
    return listed;
  }

  return {
    list: (_caller, reach, naming, kind) => list(reach, naming, kind),

    async offer(_caller, reach, naming) {
      const catalogs = await Promise.all(reach.servers.map(server => ports.catalogOf(server)));
      return toOffer(catalogs, naming);
    },

    async request(_caller, reach, naming, request, context) {
      const { catalogOf, call } = ports;
      const { server, name } = await resolve(reach, naming, request.reference, { catalogOf, list });
      const outbound = { method: request.method, params: paramsFor(request, name) };
      const mirrored = request.method === 'completion/complete' ? undefined : name;
      try {
        const reply = await call(server, outbound, mirrored, context);
        const isQualifiedRead = request.method === 'resources/read' && naming.kind === 'qualified';
        return isQualifiedRead
          ? { server, reply, toResult: result => withQualifiedContents(result, server.name) }
          : { server, reply };
      } catch (error) {
        if (error instanceof PorticoError && error.entry.toolResult) {
          throw new ServerFailure(server, error);
        }
        throw error;
      }
    },
  };
}

function presentedName(server: string, key: string, naming: Naming, kind: Kind): string {
  if (naming.kind === 'own') return key;
  return kind === 'tools' || kind === 'prompts'
    ? toQualifiedName(server, key, naming.style)
    : toQualifiedUri(server, key);
}

/** The params with the server's own name where the endpoint's stood. */
function paramsFor({ method, reference, params }: RelayedRequest, name: string): RawObject {
  const copy = new Map(params);
  const own = JSON.stringify(name);
  const member = reference.kind === 'resource' ? 'uri' : 'name';
  if (method !== 'completion/complete') return copy.set(member, own);
  const ref = rawMembers(params.get('ref') ?? '{}').set(member, own);
  return copy.set('ref', fromRawMembers(ref));
}

/** A result of `resources/read` whose contents carry the endpoint's URIs. */
function withQualifiedContents(result: string, server: string): string {
  const members = rawMembers(result);
  const contents = members.get('contents');
  if (!contents?.startsWith('[')) return result;
  const rewritten = rawElements(contents).map(element => {
    if (!element.startsWith('{')) return element;
    const content = rawMembers(element);
    const uri: unknown = JSON.parse(content.get('uri') ?? 'null');
    if (typeof uri !== 'string') return element;
    return fromRawMembers(content.set('uri', JSON.stringify(toQualifiedUri(server, uri))));
  });
  return fromRawMembers(members.set('contents', `[${rewritten.join(',')}]`));
}

/** Equal for equal lists: the servers with their names and catalogs, the naming and the kind. */
function listKey(reach: Reach, naming: Naming, kind: Kind): string {
  const style = naming.kind === 'own' ? 'own' : naming.style;
  const servers = reach.servers.map(
    ({ id, name, catalogHash, status }) =>
      `${id} ${name} ${status === 'DISCONNECTED' ? '' : catalogHash}`,
  );
  return `${kind} ${style}\n${servers.join('\n')}`;
}
