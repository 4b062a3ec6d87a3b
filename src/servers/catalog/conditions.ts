/**
 * Which clients an item of a catalog is for, where it is not for all: a server that keeps sessions may offer more to a client that can
 * be asked, and one that speaks both eras may offer other things in each. Pure.
 *
 * Invariant: a condition only takes away; what has none is there for everybody.
 */
import { Lru } from '../../shared/util/lru.ts';
import type { Era } from '../../shared/protocol.ts';
import type { ClientFeature } from '../../shared/client-capabilities.ts';
import type { Catalog, CatalogKind, Condition, Conditions, Kind } from './catalog.ts';

/** What of a client decides what it is offered. */
export interface ClientTraits {
  features: ReadonlySet<ClientFeature>;
  /** Equal for equal features. */
  key: string;
  /** No client, but who looks at what there is for all of them. */
  isOnlooker?: boolean;
}

/** A client of which nothing is known that could be asked. */
export const PLAIN_CLIENT: ClientTraits = { features: new Set(), key: '' };
/** Sees what is there for whichever client, and calls nothing. */
export const ONLOOKER: ClientTraits = { features: new Set(), key: '*', isOnlooker: true };

const remembered = new WeakMap<Catalog, Lru<string, Catalog>>();
/** As many as there are sets of features, and a little more. */
const MAX_CLIENTS = 80;

/**
 * A catalog as a server offers it to a client.
 * @param catalog of which not all is for all clients
 * @param era in which the server is spoken to
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

/** Whether a client is offered what has this condition. */
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
