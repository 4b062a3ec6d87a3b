/**
 * Catalogs as a caller sees them: filtered by the view on their server, so that whatever lists or looks up an item finds only
 * what may be used. Filtered catalogs are remembered beside the whole ones.
 */
import type { OtherKind, View } from '../access/policy/view.ts';
import {
  type Catalog,
  type CatalogItem,
  type CatalogKind,
  isReadOnly,
} from '../servers/catalog/catalog.ts';
import { Lru } from '../shared/util/lru.ts';

/** Views of one catalog that are remembered. */
const MAX_VIEWS = 64;
/** Capabilities that are about what a view without `rest` hides. */
const OF_THE_REST = ['resources', 'prompts', 'completions'];
const OTHERS = ['resources', 'resourceTemplates', 'prompts'] as const satisfies OtherKind[];
const NONE: CatalogKind = { items: [], byKey: new Map() };

const remembered = new WeakMap<Catalog, Lru<string, Catalog>>();

/** A catalog through a view; the same object for the same view. */
export function filterCatalog(view: View | undefined, catalog: Catalog): Catalog {
  if (!view || view.key === '') return catalog;
  let views = remembered.get(catalog);
  if (!views) {
    views = new Lru(MAX_VIEWS);
    remembered.set(catalog, views);
  }
  const held = views.get(view.key);
  if (held) return held;
  const made = filtered(view, catalog);
  views.set(view.key, made);
  return made;
}

function filtered(view: View, catalog: Catalog): Catalog {
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

/** What is left of the other kinds, where a view tells their items apart. */
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
