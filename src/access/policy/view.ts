/** What a caller may see of one server: a filter over its catalog, for lists and calls alike. Pure. */
import type { Kind } from '../../servers/catalog/catalog.ts';
import {
  EVERYTHING,
  matchesServer,
  toMatcher,
  type NamedServer,
  type QualifiedPattern,
} from '../../shared/util/name-pattern.ts';

export interface View {
  /** Equal for equal filters, so that filtered results can be cached under it. */
  readonly key: string;
  /** Whether everything beside tools is visible: resources, prompts, completion, the server's instructions. */
  readonly rest: boolean;
  /** Whether a tool is visible, by the server's own name for it. */
  tool(name: string, isReadOnly: boolean): boolean;
  /** Whether another listed item is visible, where `rest` is true; absent: all are. */
  other?(kind: OtherKind, key: string): boolean;
}

export type OtherKind = Exclude<Kind, 'tools'>;

/** The whole server. */
export const WHOLE: View = { key: '', rest: true, tool: () => true };
/** Nothing of the server, as if it did not exist. */
export const NOTHING: View = { key: '-', rest: false, tool: () => false };

/** What both views let through. */
export function both(a: View, b: View): View {
  if (a === NOTHING || b === NOTHING) return NOTHING;
  if (a === WHOLE || a === b) return b;
  if (b === WHOLE) return a;
  return {
    key: `(${a.key}&${b.key})`,
    rest: a.rest && b.rest,
    tool: (name, isReadOnly) => a.tool(name, isReadOnly) && b.tool(name, isReadOnly),
    ...((a.other ?? b.other) && { other: (kind, key) => [a, b].every(seesOther(kind, key)) }),
  };
}

const seesOther =
  (kind: OtherKind, key: string) =>
  ({ other }: View): boolean =>
    other?.(kind, key) ?? true;

/** What at least one view lets through. */
export function either(views: readonly View[]): View {
  const some = views.filter(view => view !== NOTHING);
  if (some.includes(WHOLE)) return WHOLE;
  const [first] = some;
  if (!first) return NOTHING;
  if (some.length === 1) return first;
  return {
    key: `(${some.map(({ key }) => key).join('|')})`,
    rest: some.some(({ rest }) => rest),
    tool: (name, isReadOnly) => some.some(view => view.tool(name, isReadOnly)),
    ...(some.some(view => view.other) && {
      other: (kind, key) => some.some(view => view.rest && seesOther(kind, key)(view)),
    }),
  };
}

/** Returns what patterns select of a server: what some of `include` matches and none of `exclude`. */
export function selectionOf(
  server: NamedServer,
  include: readonly QualifiedPattern[],
  exclude: readonly QualifiedPattern[],
): View {
  const toolsOf = (patterns: readonly QualifiedPattern[]) =>
    patterns.filter(pattern => matchesServer(pattern.server, server)).map(({ tool }) => tool);
  const wanted = toolsOf(include);
  const unwanted = toolsOf(exclude);
  if (wanted.length === 0 || unwanted.includes(EVERYTHING)) return NOTHING;
  const rest = wanted.includes(EVERYTHING);
  if (rest && unwanted.length === 0) return WHOLE;
  const [including, excluding] = [wanted.map(toMatcher), unwanted.map(toMatcher)];
  return {
    key: JSON.stringify([wanted, unwanted]),
    rest,
    tool: name =>
      including.some(isMatch => isMatch(name)) && !excluding.some(isMatch => isMatch(name)),
  };
}
