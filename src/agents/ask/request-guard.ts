/**
 * Decides on a plan. Pure: the plan's text and facts in, a verdict out; of several reasons against a plan, the first is named. A plan is
 * allowed only if every stage passes: it can be read, its tool is in the live catalog as the caller sees it, its arguments fit the tool's
 * own schema, the operator allows the tool (by name where it may change something), and the budget has room for a call.
 */
import { isAllowed, mayChange, type AllowEntry } from './allow-list.ts';
import { parsePlan, type ParseReason, type ToolPlan } from './plan.ts';
import { checkSchema } from './schema-check.ts';
import { matchesServer } from '../../shared/util/name-pattern.ts';

/** A tool of the live catalog, as the caller sees it. */
export interface GuardedTool {
  server: { id: string; name: string };
  /** The server's own name for the tool. */
  tool: string;
  inputSchema: unknown;
  /** Whether the tool declares that it changes nothing. */
  isReadOnly: boolean;
  /** Whether it stands in for tools that the caller cannot list before it has connected an account. */
  isStandIn?: boolean;
}

/** What was used, or the most that may be used. */
export interface AskBudget {
  calls: number;
  questions: number;
  tokens: number;
  elapsedMs: number;
}

export interface GuardFacts {
  /** @returns undefined for unknown and hidden tools alike */
  find(server: string, tool: string): GuardedTool | undefined;
  /** The allow-list entries that apply to the caller. */
  entries: readonly AllowEntry[];
  spent: AskBudget;
  most: AskBudget;
}

export type BudgetReason = 'budget_calls' | 'budget_questions' | 'budget_tokens' | 'budget_time';
export type GuardRefusal =
  | { stage: 'parse'; reason: ParseReason }
  | { stage: 'tool'; reason: 'unknown_tool' }
  | { stage: 'schema'; reason: 'arguments_do_not_fit' | 'schema_unusable' }
  | { stage: 'allowlist'; reason: 'not_allowed' }
  | { stage: 'side_effects'; reason: 'side_effects_not_allowed' }
  | { stage: 'budget'; reason: BudgetReason };

/** What was found before the decision: a tool that the caller sees, and the plan for it. */
export interface Planned {
  plan: ToolPlan;
  tool: GuardedTool;
}

export type GuardVerdict =
  | ({ decision: 'allowed' } & Planned)
  | { decision: 'no_tool'; reason: string }
  | ({ decision: 'refused'; detail?: string } & GuardRefusal & Partial<Planned>);

/** Most steps of a check of arguments. */
const MAX_STEPS = 20_000;

export function decidePlan(text: string, facts: GuardFacts): GuardVerdict {
  const parsed = parsePlan(text);
  if ('reason' in parsed) return { decision: 'refused', stage: 'parse', reason: parsed.reason };
  const { plan } = parsed;
  if (plan.type === 'none') return { decision: 'no_tool', reason: plan.reason };
  const tool = facts.find(plan.server, plan.tool);
  if (!tool) return { decision: 'refused', stage: 'tool', reason: 'unknown_tool' };
  const planned = { plan, tool };
  const checked = checkSchema(tool.inputSchema, plan.args, MAX_STEPS);
  if (checked.fit !== 'fits') {
    const reason = checked.fit === 'unusable' ? 'schema_unusable' : 'arguments_do_not_fit';
    return { decision: 'refused', stage: 'schema', reason, detail: checked.detail, ...planned };
  }
  const isCovered = tool.isStandIn
    ? facts.entries.some(({ server }) => matchesServer(server, tool.server))
    : isAllowed(facts.entries, tool.server, tool.tool);
  if (!isCovered) {
    return { decision: 'refused', stage: 'allowlist', reason: 'not_allowed', ...planned };
  }
  if (!tool.isReadOnly && !mayChange(facts.entries, tool.server, tool.tool)) {
    const reason = 'side_effects_not_allowed';
    return { decision: 'refused', stage: 'side_effects', reason, ...planned };
  }
  const reason = decideBudget(facts.spent, facts.most, { calls: 1 });
  if (reason) return { decision: 'refused', stage: 'budget', reason, ...planned };
  return { decision: 'allowed', ...planned };
}

/** @param next what is about to be used @returns the part of the budget that has no room for it */
export function decideBudget(
  spent: AskBudget,
  most: AskBudget,
  next: Partial<AskBudget> = {},
): BudgetReason | undefined {
  const hasRoom = (of: keyof AskBudget) => spent[of] + (next[of] ?? 0) <= most[of];
  if (!hasRoom('calls')) return 'budget_calls';
  if (!hasRoom('questions')) return 'budget_questions';
  if (!hasRoom('tokens')) return 'budget_tokens';
  return hasRoom('elapsedMs') ? undefined : 'budget_time';
}
