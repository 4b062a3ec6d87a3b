/**
 * Rules of the result cache as a call is decided on: whether its result may be one of before. Pure. Nothing is cached without a rule, and
 * no rule makes a tool cached that does not say that it changes nothing.
 *
 * Source: MCP 2026-07-28 and 2025-11-25, `ToolAnnotations`: `idempotentHint` means something only where `readOnlyHint` is false, so a
 * tool that only reads may be called any number of times.
 */
import { matches } from '../../shared/util/name-pattern.ts';
import { type CatalogItem, isReadOnly } from '../catalog/catalog.ts';

/** A rule of one server. */
export interface CacheRule {
  id: string;
  /** The server's own name of a tool, or a pattern over them. */
  tool: string;
  /** How old a result may be, in milliseconds. */
  ttlMs: number;
  /** The result is the same for everybody who may call the tool. */
  isPublic: boolean;
  /** Counts edits. */
  revision: number;
}

/**
 * The rule that holds for a tool: the one with its very name, else the most careful of those that match. Undefined where nothing is
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

/** Private before public, short before long. */
const byCare = (one: CacheRule, other: CacheRule): number =>
  Number(one.isPublic) - Number(other.isPublic) ||
  one.ttlMs - other.ttlMs ||
  (one.id < other.id ? -1 : 1);
