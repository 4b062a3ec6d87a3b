/**
 * Computes what a change of rules or toolsets gives to people and takes from them, by making the one access decision before and after.
 * Pure. People whom the same rules concern are decided on once. The work is bounded; people beyond the bound are not examined.
 */
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import {
  createPolicy,
  levelsOf,
  viewOfToolset,
  type AccessState,
  type Holder,
  type Policy,
} from './policy.ts';
import type { Toolset } from './toolset.ts';
import { both, NOTHING, WHOLE, type View } from './view.ts';

/** A person as decisions see them, with a token without limits. */
export interface NamedHolder {
  name: string;
  holder: Holder;
}

/** What a server offers now. */
export interface Offer {
  server: NamedServer;
  tools: readonly { name: string; isReadOnly: boolean }[];
  /** Whether it offers anything beside tools. */
  hasRest: boolean;
}

/** What a policy lets somebody see of a server, in one state of the registry. */
export type Endpoint = (policy: Policy, state: AccessState) => (server: NamedServer) => View;

export interface Change {
  offer: Offer;
  /** Absent for what the server offers beside tools. */
  tool?: string;
  isGained: boolean;
}

/** One change that is the same for several people. */
export interface GroupChange {
  people: readonly NamedHolder[];
  gained: number;
  lost: number;
  /** Returns the first changes, at most this many. */
  first(most: number): Change[];
}

export interface Changes {
  /** Number of people who were decided on, counted from the first. */
  examined: number;
  /** Largest group of people first. */
  groups: readonly GroupChange[];
}

/**
 * Most comparisons of a rule with a tool. Measured for 1,000 people and 10,000 tools, in CPU time: 0.1 s with 10 rules for groups, 0.9 s
 * with 200; at this bound 1.5 s, and 6 s where each of 1,000 patterns has eight `*`.
 */
export const MAX_COMPARISONS = 20_000_000;

/** On `/mcp` and wherever no toolset is named. */
export const everywhere: Endpoint = policy => server => policy.viewOf(server);

/** At the endpoint of a toolset, whose selection is the same for everybody. */
export function atToolset(id: string): Endpoint {
  const selections = new WeakMap<Toolset, Map<NamedServer, View>>();
  const selectionOf = (toolset: Toolset, server: NamedServer): View => {
    const known = selections.get(toolset) ?? new Map<NamedServer, View>();
    selections.set(toolset, known);
    const view = known.get(server) ?? remembering(viewOfToolset(toolset, server));
    known.set(server, view);
    return view;
  };
  return (policy, state) => {
    const toolset = state.toolsets.find(each => each.id === id);
    if (!toolset || policy.toolset(toolset.name)?.id !== id) return () => NOTHING;
    return server => both(policy.viewOf(server), selectionOf(toolset, server));
  };
}

/** Returns the same view, which decides on each tool only once. */
function remembering(view: View): View {
  if (view === WHOLE || view === NOTHING) return view;
  const known = new Map<string, boolean>();
  return {
    ...view,
    tool(name, isReadOnly) {
      const isSeen = known.get(name) ?? view.tool(name, isReadOnly);
      known.set(name, isSeen);
      return isSeen;
    },
  };
}

/** Returns what a change does to people. @param states before and after */
export function changesFor(
  people: readonly NamedHolder[],
  endpoint: Endpoint,
  states: readonly [before: AccessState, after: AccessState],
  offers: readonly Offer[],
  most = MAX_COMPARISONS,
): Changes {
  const items = offers.reduce((sum, { tools }) => sum + tools.length + 1, 0);
  const toKind = kindsOf(states);
  const byKind = new Map<string, string>();
  const byMarks = new Map<string, NamedHolder[]>();
  let [examined, spent] = [0, 0];
  for (const one of people) {
    const { holder } = one;
    const kind = toKind(holder);
    let marks = byKind.get(kind);
    if (marks === undefined) {
      if (spent > most) continue;
      const views = states.map(state => endpoint(createPolicy(holder, state), state));
      marks = toMarks(views, offers);
      byKind.set(kind, marks);
      spent += states.reduce((sum, { rules }) => sum + weightOf(holder, rules), 0) * items;
    }
    examined += 1;
    if (!hasChange(marks)) continue;
    const alike = byMarks.get(marks) ?? [];
    alike.push(one);
    byMarks.set(marks, alike);
  }
  const groups = [...byMarks].map(([marks, all]) => toGroup(marks, all, offers));
  return { examined, groups: groups.toSorted((a, b) => b.people.length - a.people.length) };
}

/** Returns what a toolset itself gains and loses, regardless of who may use it. */
export function selectionChange(
  id: string,
  states: readonly [before: AccessState, after: AccessState],
  offers: readonly Offer[],
): GroupChange {
  const views = states.map(({ toolsets }) => {
    const toolset = toolsets.find(each => each.id === id);
    return (server: NamedServer) => (toolset ? viewOfToolset(toolset, server) : NOTHING);
  });
  return toGroup(toMarks(views, offers), [], offers);
}

const weightOf = (holder: Holder, rules: AccessState['rules']) =>
  1 + levelsOf(holder, rules).flat().length;

/** Returns a text that is equal for people whom all rules and toolsets treat alike. */
function kindsOf(states: readonly AccessState[]): (holder: Holder) => string {
  const subjects = states.flatMap(({ rules }) => rules.map(({ subject }) => subject));
  const members = states.flatMap(({ toolsets }) => toolsets.map(set => set.definition.members));
  const ids = new Set([
    ...subjects.flatMap(subject => (subject.kind === 'principal' ? subject.id : [])),
    ...members.flatMap(each => each?.principals ?? []),
  ]);
  const named = new Set([
    ...subjects.flatMap(subject => (subject.kind === 'group' ? subject.name : [])),
    ...members.flatMap(each => each?.groups ?? []),
  ]);
  return ({ principalId, groups, isAdmin }) =>
    JSON.stringify([
      isAdmin,
      ids.has(principalId) ? principalId : '',
      groups.filter(group => named.has(group)).toSorted(),
    ]);
}

/** Returns one character for what each server offers beside tools, and one for each of its tools: `+` gained, `-` lost, `=` neither. */
function toMarks(
  [before, after]: readonly ((server: NamedServer) => View)[],
  offers: readonly Offer[],
): string {
  const all = offers.map(({ server, tools, hasRest }) => {
    const [was = NOTHING, is = NOTHING] = [before?.(server), after?.(server)];
    if (was.key === is.key) return '='.repeat(tools.length + 1);
    const each = tools.map(({ name, isReadOnly }) =>
      toMark(was.tool(name, isReadOnly), is.tool(name, isReadOnly)),
    );
    return toMark(hasRest && was.rest, hasRest && is.rest) + each.join('');
  });
  return all.join('');
}

const toMark = (had: boolean, has: boolean) => (had === has ? '=' : has ? '+' : '-');
const hasChange = (marks: string) => marks.includes('+') || marks.includes('-');

function toGroup(
  marks: string,
  people: readonly NamedHolder[],
  offers: readonly Offer[],
): GroupChange {
  function first(most: number): Change[] {
    const found: Change[] = [];
    let at = 0;
    for (const offer of offers) {
      for (const tool of [undefined, ...offer.tools]) {
        const mark = marks[at];
        at += 1;
        if (mark === '=') continue;
        if (found.length === most) return found;
        found.push({ offer, ...(tool && { tool: tool.name }), isGained: mark === '+' });
      }
    }
    return found;
  }
  const countOf = (mark: string) => marks.split(mark).length - 1;
  return { people, gained: countOf('+'), lost: countOf('-'), first };
}
