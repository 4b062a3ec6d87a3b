/**
 * Passes through protocol extensions that the gateway does not know, and experimental capabilities, if it is clear which server they belong
 * to: always on an endpoint of one server, elsewhere if exactly one server that the caller sees has them. Pure.
 */
import type { Catalog } from '../servers/catalog/catalog.ts';
import type { RawObject } from '../shared/json/json-spans.ts';
import { isObject, META, TASKS_EXTENSION, type JsonObject } from '../shared/protocol.ts';

/** Extensions that live in listed and called items, so that any number of servers may have them. */
const SHARED = new Set(['io.modelcontextprotocol/ui']);

/** Capabilities whose members the protocol leaves open. */
type Open = 'extensions' | 'experimental';

/** Returns the extensions or experimental capabilities of its servers that an endpoint advertises; tasks are not among them. */
export function offeredExtensions(
  catalogs: readonly Catalog[],
  capability: Open = 'extensions',
): JsonObject {
  const holders = new Map<string, number>();
  const offered: Record<string, unknown> = {};
  for (const catalog of catalogs) {
    for (const [name, value] of Object.entries(extensionsOf(catalog, capability))) {
      // Clients refuse a handshake with any other value, and with it all servers of an endpoint.
      if (name === TASKS_EXTENSION || !isObject(value)) continue;
      holders.set(name, (holders.get(name) ?? 0) + 1);
      offered[name] = value;
    }
  }
  const isPlain = (name: string) => SHARED.has(name) || holders.get(name) === 1;
  return Object.fromEntries(Object.entries(offered).filter(([name]) => isPlain(name)));
}

/**
 * Whether a call's result may be of a type that only an extension of its server defines.
 * @param catalogs those that the caller sees; undefined on the endpoint of one server
 */
export function takesOtherTypes(
  params: RawObject,
  catalog: Catalog,
  catalogs: (() => Promise<readonly Catalog[]>) | undefined,
): boolean | Promise<boolean> {
  const names = unknownExtensions(catalog);
  if (names.length === 0 || !declaresOne(params, names)) return false;
  if (!catalogs) return true;
  return catalogs().then(all => {
    const offered = offeredExtensions(all);
    return declaresOne(
      params,
      names.filter(name => name in offered),
    );
  });
}

/** Returns the extensions of a server that may give its results a type of their own. */
function unknownExtensions(catalog: Catalog): string[] {
  const names = Object.keys(extensionsOf(catalog));
  return names.filter(name => name !== TASKS_EXTENSION && !SHARED.has(name));
}

/** Whether the client of a modern request declared one of these extensions. */
function declaresOne(params: RawObject, names: readonly string[]): boolean {
  const meta: unknown = JSON.parse(params.get('_meta') ?? '{}');
  const capabilities = isObject(meta) ? meta[META.clientCapabilities] : undefined;
  const declared = isObject(capabilities) ? capabilities['extensions'] : undefined;
  return isObject(declared) && names.some(name => isObject(declared[name]));
}

function extensionsOf({ capabilities }: Catalog, capability: Open = 'extensions'): JsonObject {
  const extensions = capabilities[capability];
  return isObject(extensions) ? extensions : {};
}
