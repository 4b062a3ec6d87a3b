/**
 * What a caller may see and use: the one decision, made from rules, toolsets and the token's limits. Pure; created once for a token and a
 * state of the registry, then consulted for each server.
 *
 * Precedence: rules for the principal come before rules for its groups, those before rules for everyone. On the first of these levels with
 * a matching rule, a deny outweighs every allow. Where no rule matches, the default access decides: `open` allows members, `closed` only
 * holders of `admin`. Whatever the rules say, a token never reaches beyond its own limits.
 */
import {
  EVERYTHING,
  matchesServer,
  parseQualifiedPattern,
  toMatcher,
  type NamedServer,
  type QualifiedPattern,
} from '../../shared/util/name-pattern.ts';
import type { Budget } from './budget.ts';
import type { AccessRule, DefaultAccess } from './rule.ts';
import type { Toolset } from './toolset.ts';
import { both, either, NOTHING, selectionOf, WHOLE, type View } from './view.ts';

/** The caller, as far as the decision depends on it. */
export interface Holder {
  principalId: string;
  groups: readonly string[];
  isAdmin: boolean;
  /** Limits of the token; null where it has none of that kind. */
  servers: readonly string[] | null;
  tools: readonly string[] | null;
  toolsets: readonly string[] | null;
}

/** What all decisions depend on. */
export interface AccessState {
  defaultAccess: DefaultAccess;
  rules: readonly AccessRule[];
  toolsets: readonly Toolset[];
  /** Absent where there are none. */
  budgets?: readonly Budget[] | undefined;
}

/** Why a tool is allowed or not. */
export interface AccessDecision {
  isAllowed: boolean;
  /** What decided. */
  by: 'rule' | 'posture' | 'token_servers' | 'token_tools' | 'token_toolsets';
  /** The rule that decided, if any. */
  ruleId?: string;
}

/** One reason for or against the use of a tool, regardless of the other reasons. */
export interface Reason {
  by: AccessDecision['by'];
  isAllowed: boolean;
  /** All rules that decide, on the first level where one matches. If each of them were reversed, so would be the reason. */
  ruleIds: readonly string[];
}

export interface Policy {
  viewOf(server: NamedServer): View;
  /** Returns the toolset with a name, where this caller may use it. */
  toolset(name: string): Toolset | undefined;
  /** Returns why a tool may be used or not; of several reasons against it, the first. */
  explain(server: NamedServer, tool: string, isReadOnly: boolean): AccessDecision;
  /** Returns the reason from the rules, or from the default access where none matches, and then one for each limit of the token. */
  reasons(server: NamedServer, tool: string, isReadOnly: boolean): Reason[];
  /** Ids of the only servers that the caller can ever see; null where its token has no such limit. */
  servers: readonly string[] | null;
  /** The token's limits as a text, equal for equal limits; '' where it has none. */
  limits: string;
  /** Whether the token's limits include a whole server. Rules do not count: they decide who may use tools. */
  administers(server: NamedServer): boolean;
}

type Levels = readonly (readonly AccessRule[])[];

/** Creates the policy for one holder. */
export function createPolicy(holder: Holder, state: AccessState): Policy {
  const levels = levelsOf(holder, state.rules);
  const fallback = state.defaultAccess === 'open' || holder.isAdmin;
  const usable = state.toolsets.filter(toolset => mayUse(holder, toolset));
  const tools = holder.tools?.map(parseQualifiedPattern);
  const chosen = holder.toolsets && usable.filter(({ id }) => holder.toolsets?.includes(id));
  const known = new WeakMap<NamedServer, View>();

  function limits(server: NamedServer): [by: AccessDecision['by'], view: View][] {
    const { servers } = holder;
    const isNamed = servers === null || servers.includes(server.id);
    return [
      ['token_servers', isNamed ? WHOLE : NOTHING],
      ['token_tools', tools ? selectionOf(server, tools, []) : WHOLE],
      ['token_toolsets', chosen ? either(chosen.map(set => viewOfToolset(set, server))) : WHOLE],
    ];
  }

  function reasons(server: NamedServer, tool: string, isReadOnly: boolean): Reason[] {
    const concerned = ofServer(levels, server);
    const rule = toDecision(concerned)(tool, isReadOnly);
    const level = concerned.find(rules => rule && rules.includes(rule)) ?? [];
    const isDeciding = (other: AccessRule) =>
      other.effect === rule?.effect && toDecision([[other]])(tool, isReadOnly) === other;
    const ruleIds = level.filter(isDeciding).map(({ id }) => id);
    const ruling: Reason = rule
      ? { by: 'rule', isAllowed: rule.effect === 'allow', ruleIds }
      : { by: 'posture', isAllowed: fallback, ruleIds };
    const limiting = limits(server).map(([by, view]): Reason => {
      return { by, isAllowed: view.tool(tool, isReadOnly), ruleIds: [] };
    });
    return [ruling, ...limiting];
  }

  return {
    servers: holder.servers,
    limits: toLimitsKey(holder),
    administers: server => limits(server).every(([, view]) => view === WHOLE),
    toolset: name => (chosen ?? usable).find(toolset => toolset.name === name),
    viewOf(server) {
      let view = known.get(server);
      if (!view) {
        view = limits(server).reduce(
          (seen, [, limit]) => both(seen, limit),
          ruled(levels, fallback, server),
        );
        known.set(server, view);
      }
      return view;
    },
    explain(server, tool, isReadOnly) {
      const [ruling, ...limiting] = reasons(server, tool, isReadOnly);
      const limit = ruling?.isAllowed ? limiting.find(reason => !reason.isAllowed) : undefined;
      const { by, isAllowed, ruleIds } = limit ?? ruling ?? NO_REASON;
      const [ruleId] = ruleIds;
      return { by, isAllowed, ...(ruleId === undefined ? {} : { ruleId }) };
    },
    reasons,
  };
}

const NO_REASON: Reason = { by: 'posture', isAllowed: false, ruleIds: [] };

/** Returns what a toolset selects of a server. */
export function viewOfToolset({ definition }: Toolset, server: NamedServer): View {
  const { include, exclude } = definition;
  const parse = (patterns: readonly string[]): QualifiedPattern[] =>
    patterns.map(parseQualifiedPattern);
  return selectionOf(server, parse(include), parse(exclude));
}

/** Lists are sorted because their order has no meaning. */
function toLimitsKey({ servers, tools, toolsets }: Holder): string {
  const limits = [servers, tools, toolsets].map(list => list && list.toSorted());
  return limits.every(list => list === null) ? '' : JSON.stringify(limits);
}

function mayUse(
  { principalId, groups, isAdmin }: Holder,
  { definition: { members } }: Toolset,
): boolean {
  if (!members || isAdmin) return true;
  return (
    members.principals.includes(principalId) || members.groups.some(group => groups.includes(group))
  );
}

/** Returns the rules that concern a holder, by level of precedence. */
export function levelsOf({ principalId, groups }: Holder, rules: readonly AccessRule[]): Levels {
  const own = rules.filter(
    ({ subject }) => subject.kind === 'principal' && subject.id === principalId,
  );
  const shared = rules.filter(
    ({ subject }) => subject.kind === 'group' && groups.includes(subject.name),
  );
  return [own, shared, rules.filter(({ subject }) => subject.kind === 'everyone')];
}

const ofServer = (levels: Levels, server: NamedServer): Levels =>
  levels.map(rules => rules.filter(rule => matchesServer(rule.server, server)));

/** Returns what the rules allow of a server. */
function ruled(levels: Levels, fallback: boolean, server: NamedServer): View {
  const concerned = ofServer(levels, server);
  const restRule = decide(concerned, isSweeping);
  const rest = restRule ? restRule.effect === 'allow' : fallback;
  if (concerned.flat().every(isSweeping)) return rest ? WHOLE : NOTHING;
  if (!mayAllow(concerned, fallback)) return NOTHING;
  const facts = concerned.map(rules =>
    rules.map(({ effect, tool, readOnly }) => [effect, tool, readOnly]),
  );
  const decideTool = toDecision(concerned);
  return {
    key: JSON.stringify([facts, fallback]),
    rest,
    tool: (name, isReadOnly) => {
      const rule = decideTool(name, isReadOnly);
      return rule ? rule.effect === 'allow' : fallback;
    },
  };
}

/** Whether a rule concerns a whole server, and so also what it offers beside tools. */
const isSweeping = ({ tool, readOnly }: AccessRule) => tool === EVERYTHING && !readOnly;

/** Whether some tool could be allowed: where a level denies the whole server, only what an earlier one allows. */
function mayAllow(levels: Levels, fallback: boolean): boolean {
  for (const rules of levels) {
    if (rules.some(rule => isSweeping(rule) && rule.effect === 'deny')) return false;
    if (rules.some(({ effect }) => effect === 'allow')) return true;
  }
  return fallback;
}

/** Prepares rules for many tools. The returned function finds the rule that decides on a tool, if any matches. */
function toDecision(levels: Levels): (name: string, isReadOnly: boolean) => AccessRule | undefined {
  const matchers = new Map(levels.flat().map(rule => [rule, toMatcher(rule.tool)]));
  return (name, isReadOnly) =>
    decide(levels, rule => (!rule.readOnly || isReadOnly) && matchers.get(rule)?.(name) === true);
}

function decide(levels: Levels, isMatch: (rule: AccessRule) => boolean): AccessRule | undefined {
  for (const rules of levels) {
    let allowing: AccessRule | undefined;
    for (const rule of rules) {
      if (!isMatch(rule)) continue;
      if (rule.effect === 'deny') return rule;
      allowing ??= rule;
    }
    if (allowing) return allowing;
  }
  return undefined;
}
