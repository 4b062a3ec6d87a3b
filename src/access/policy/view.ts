/** What of one server a caller may see: a filter over its catalog, for lists and calls alike. Pure. */
import type { Kind } from '../../servers/catalog/catalog.ts';
import {
  EVERYTHING,
  matchesServer,
  toMatcher,
  type NamedServer,
  type QualifiedPattern,
} from '../../shared/util/name-pattern.ts';

export interface View {
  /** Equal for equal filters, so that what was filtered can be remembered under it. */
  readonly key: string;
  /** Whether what a server offers beside tools is seen: resources, prompts, completion, its instructions. */
  readonly rest: boolean;
  /** Whether a tool is seen, by the server's own name of it. */
  tool(name: string, isReadOnly: boolean): boolean;
  /** Whether something else that it lists is seen, where `rest` is; all of it where absent. */
  other?(kind: OtherKind, key: string): boolean;
}

export type OtherKind = Exclude<Kind, 'tools'>;

/** All of a server. */
export const WHOLE: View = { key: '', rest: true, tool: () => true };
/** Nothing of it: as if it did not exist. */
export const NOTHING: View = { key: '-', rest: false, tool: () => false };

/** What both let through. */
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

/** What one of them lets through. */
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

/** What patterns select of a server: what some of `include` stands for and none of `exclude`. */
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
