/**
 * What a caller may see and use: the one decision, from rules, the token's limits and toolsets. Pure; made once for a token
 * and a state of the registry, then asked for each server.
 *
 * Precedence. Rules for the principal come before rules for its groups, those before rules for everyone; at the first of these
 * levels where a rule matches, a deny outweighs every allow. Where no rule matches, the posture decides: `open` lets members
 * through, `closed` only holders of `admin`. Whatever the rules say, a token never reaches beyond its own limits.
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

/** Who asks, as far as the decision depends on it. */
export interface Holder {
  principalId: string;
  groups: readonly string[];
  isAdmin: boolean;
  /** Limits of the token; null where it has none of the kind. */
  servers: readonly string[] | null;
  tools: readonly string[] | null;
  toolsets: readonly string[] | null;
}

/** What everybody's decisions are made of. */
export interface AccessState {
  posture: DefaultAccess;
  rules: readonly AccessRule[];
  toolsets: readonly Toolset[];
  /** Absent where there are none. */
  budgets?: readonly Budget[] | undefined;
}

/** Why something is allowed or not. */
export interface Verdict {
  isAllowed: boolean;
  /** What decided. */
  by: 'rule' | 'posture' | 'token_servers' | 'token_tools' | 'token_toolsets';
  /** The rule that decided, if one did. */
  ruleId?: string;
}

/** One of the reasons there are for or against the use of a tool, whatever the others say. */
export interface Reason {
  by: Verdict['by'];
  isAllowed: boolean;
  /** Of rules: all that decide, at the first level where one matches. Were each of them turned round, so would be the reason. */
  ruleIds: readonly string[];
}

export interface Policy {
  viewOf(server: NamedServer): View;
  /** The toolset of a name, where this caller may use it. */
  toolset(name: string): Toolset | undefined;
  /** Why a tool may be used or not; of several reasons against it, the first. */
  explain(server: NamedServer, tool: string, isReadOnly: boolean): Verdict;
  /** What the rules say, or the posture where none matches, and then each limit of the token. */
  reasons(server: NamedServer, tool: string, isReadOnly: boolean): Reason[];
  /** Ids of the only servers the caller can ever see; null where that depends on more. */
  servers: readonly string[] | null;
  /** The token's limits as a text, equal for equal limits; empty where it has none. */
  limits: string;
  /** Whether the token's limits hold a whole server. Rules do not count: they say who may use tools. */
  administers(server: NamedServer): boolean;
}

type Levels = readonly (readonly AccessRule[])[];

/** The policy for one holder. */
export function createPolicy(holder: Holder, state: AccessState): Policy {
  const levels = levelsOf(holder, state.rules);
  const fallback = state.posture === 'open' || holder.isAdmin;
  const usable = state.toolsets.filter(toolset => mayUse(holder, toolset));
  const tools = holder.tools?.map(parseQualifiedPattern);
  const chosen = holder.toolsets && usable.filter(({ id }) => holder.toolsets?.includes(id));
  const known = new WeakMap<NamedServer, View>();

  function limits(server: NamedServer): [by: Verdict['by'], view: View][] {
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

/** What a toolset selects of a server. */
export function viewOfToolset({ definition }: Toolset, server: NamedServer): View {
  const { include, exclude } = definition;
  const parse = (patterns: readonly string[]): QualifiedPattern[] =>
    patterns.map(parseQualifiedPattern);
  return selectionOf(server, parse(include), parse(exclude));
}

/** Lists are sorted, since their order means nothing. */
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

/** The rules that concern a holder, those that come first first. */
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

/** What the rules let through of a server. */
function ruled(levels: Levels, fallback: boolean, server: NamedServer): View {
  const concerned = ofServer(levels, server);
  const restRule = decide(concerned, isSweeping);
  const rest = restRule ? restRule.effect === 'allow' : fallback;
  if (concerned.flat().every(isSweeping)) return rest ? WHOLE : NOTHING;
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

/** Whether a rule is about all of a server, and so about what it offers beside tools. */
const isSweeping = ({ tool, readOnly }: AccessRule) => tool === EVERYTHING && !readOnly;

/** Made ready for many tools: finds the rule that decides on one, if any matches. */
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
