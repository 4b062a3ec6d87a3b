/**
 * Compares several discoveries of one server, each made as a different client: which items every client gets, and which clients get the
 * others. Pure.
 *
 * Invariants: an item that a client without features sees in an era is offered to every client of that era; an item's definition is taken
 * from the first discovery that saw it.
 */
import type { Era, JsonObject } from '../../shared/protocol.ts';
import { CLIENT_FEATURES, type ClientFeature } from '../../shared/client-capabilities.ts';
import { type Condition, type Conditions, type Kind, KIND_FACTS } from './catalog.ts';

/** The items that one client saw. */
export interface ClientView {
  features: readonly ClientFeature[];
  era: Era;
  items: Readonly<Record<Kind, readonly string[]>>;
}

/** The kinds that are compared; the other lists of a server may change with each discovery. */
const COMPARED_KINDS: readonly Kind[] = ['tools', 'prompts'];

export interface ComparedViews {
  /** Items that the first view lacks. */
  more: Partial<Record<Kind, readonly string[]>>;
  /** Undefined if every item is for every client. */
  conditions: Conditions | undefined;
}

/** @param views the first one is the basis; the others add to it */
export function toConditions(views: readonly ClientView[]): ComparedViews {
  const more: ComparedViews['more'] = {};
  const conditions: Conditions = {};
  for (const kind of COMPARED_KINDS) {
    const byKey = new Map<string, { text: string; seen: ClientView[] }>();
    for (const view of views) {
      for (const text of view.items[kind]) {
        const key = keyOf(kind, text);
        const known = byKey.get(key);
        if (known) known.seen.push(view);
        else byKey.set(key, { text, seen: [view] });
      }
    }
    const added = [...byKey.values()].filter(({ seen }) => seen[0] !== views[0]);
    if (added.length > 0) more[kind] = added.map(({ text }) => text);
    const found = [...byKey].flatMap(([key, { seen }]) => {
      const condition = conditionOf(seen, views);
      return condition ? [[key, condition] as const] : [];
    });
    if (found.length > 0) conditions[kind] = found;
  }
  return { more, conditions: Object.keys(conditions).length > 0 ? conditions : undefined };
}

function keyOf(kind: Kind, text: string): string {
  return String((JSON.parse(text) as JsonObject)[KIND_FACTS[kind].key]);
}

/** The condition of an item that these of all views contain; undefined if it is for everybody. */
function conditionOf(
  seen: readonly ClientView[],
  views: readonly ClientView[],
): Condition | undefined {
  const eras = new Set(views.map(({ era }) => era));
  const [only, ...others] = new Set(seen.map(({ era }) => era));
  const condition: Condition = {};
  if (eras.size > 1 && others.length === 0) condition.era = only;
  const legacy = seen.filter(({ era }) => era === 'legacy');
  const isForPlain = legacy.some(({ features }) => features.length === 0);
  if (legacy.length > 0 && !isForPlain) {
    condition.needs = needsOf(
      legacy,
      views.filter(({ era }) => era === 'legacy'),
    );
  }
  return condition.era === undefined && condition.needs === undefined ? undefined : condition;
}

/** Any feature that suffices alone; else one feature of each set without which the item was missing; every feature if that is unknown. */
function needsOf(seen: readonly ClientView[], views: readonly ClientView[]): ClientFeature[][] {
  const alone = seen.flatMap(({ features }) => (features.length === 1 ? features : []));
  if (alone.length > 0) return [alone];
  const missed = views.filter(view => !seen.includes(view) && view.features.length > 1);
  const sets = missed.map(({ features }) =>
    CLIENT_FEATURES.filter(feature => !features.includes(feature)),
  );
  return sets.length > 0 ? sets : CLIENT_FEATURES.map(feature => [feature]);
}
