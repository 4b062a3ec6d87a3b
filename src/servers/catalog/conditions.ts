/**
 * Filters a catalog by client: a server with sessions may offer more to a client that can answer server requests, and a server that speaks
 * both eras may offer different items in each. Pure.
 *
 * Invariant: a condition only removes items; an item without one is offered to everybody.
 */
import { Lru } from '../../shared/util/lru.ts';
import type { Era } from '../../shared/protocol.ts';
import type { ClientFeature } from '../../shared/client-capabilities.ts';
import type { Catalog, CatalogKind, Condition, Conditions, Kind } from './catalog.ts';

/** The properties of a client that decide what it is offered. */
export interface ClientTraits {
  features: ReadonlySet<ClientFeature>;
  /** Equal for equal sets of features. */
  key: string;
  /** Not a client, but a viewer of the whole catalog. */
  isOnlooker?: boolean;
}

/** A client that can answer no server request, as far as is known. */
export const PLAIN_CLIENT: ClientTraits = { features: new Set(), key: '' };
/** Sees the items for every client, and makes no calls. */
export const ONLOOKER: ClientTraits = { features: new Set(), key: '*', isOnlooker: true };

const remembered = new WeakMap<Catalog, Lru<string, Catalog>>();
/** Every set of features, with some room to spare. */
const MAX_CLIENTS = 80;

/**
 * Returns a catalog as a server offers it to a client. The same arguments usually return the same object.
 * @param catalog with items for any client
 * @param era in which the gateway speaks to the server
 */
export function suited(catalog: Catalog, era: Era, client: ClientTraits): Catalog {
  if (client.isOnlooker) return catalog;
  let made = remembered.get(catalog);
  if (!made) remembered.set(catalog, (made = new Lru(MAX_CLIENTS)));
  const key = `${era} ${client.key}`;
  const held = made.get(key);
  if (held) return held;
  const fit = toSuited(catalog, era, client);
  made.set(key, fit);
  return fit;
}

/** Whether a client is offered an item with this condition. */
export function isOfferedTo(
  { era: only, needs }: Condition,
  era: Era,
  { features }: ClientTraits,
): boolean {
  if (only !== undefined && only !== era) return false;
  if (needs === undefined || era === 'modern') return true;
  return needs.every(set => set.some(feature => features.has(feature)));
}

function toSuited(catalog: Catalog, era: Era, client: ClientTraits): Catalog {
  const { legacyCapabilities, conditions = {} } = catalog;
  const capabilities = era === 'legacy' ? legacyCapabilities : undefined;
  const made = { ...catalog, ...(capabilities ? { capabilities } : {}) };
  for (const [kind, conditioned] of Object.entries(conditions) as [
    Kind,
    NonNullable<Conditions[Kind]>,
  ][]) {
    const gone = new Set(
      conditioned.flatMap(([key, condition]) => (isOfferedTo(condition, era, client) ? [] : [key])),
    );
    made[kind] = without(catalog[kind], gone);
  }
  return made;
}

function without(kind: CatalogKind, gone: ReadonlySet<string>): CatalogKind {
  const items = kind.items.filter(({ key }) => !gone.has(key));
  return { items, byKey: new Map(items.map(item => [item.key, item])) };
}
