/**
 * Decides which rule of the result cache applies to a call, if any. Pure. Nothing is cached without a rule, and no rule can cache a tool
 * that is not annotated as read-only.
 *
 * Source: MCP 2026-07-28 and 2025-11-25, `ToolAnnotations`: `idempotentHint` is meaningful only if `readOnlyHint` is false, so a read-only
 * tool may be called any number of times.
 */
import { matches } from '../../shared/util/name-pattern.ts';
import { type CatalogItem, isReadOnly } from '../catalog/catalog.ts';

/** A rule of one server. */
export interface CacheRule {
  id: string;
  /** The server's own name of a tool, or a pattern over such names. */
  tool: string;
  /** Maximum age of a result, in milliseconds. */
  ttlMs: number;
  /** The result is the same for everybody who may call the tool. */
  isPublic: boolean;
  /** Counts edits. */
  revision: number;
}

/**
 * Returns the rule that applies to a tool: the one with exactly its name, else the strictest of the matching ones. Undefined if nothing is
 * cached.
 */
export function decideRule(
  rules: readonly CacheRule[],
  item: CatalogItem | undefined,
): CacheRule | undefined {
  if (!item || !isReadOnly(item)) return undefined;
  const exact = rules.find(({ tool }) => tool === item.key);
  if (exact) return exact;
  return rules.filter(({ tool }) => matches(tool, item.key)).toSorted(byCare)[0];
}

/** Orders rules strictest first: private before public, short before long. */
const byCare = (one: CacheRule, other: CacheRule): number =>
  Number(one.isPublic) - Number(other.isPublic) ||
  one.ttlMs - other.ttlMs ||
  (one.id < other.id ? -1 : 1);
