/** Applies the limits that a request asks for, within what the deployment allows: bounds may be lower, approval stricter. Pure. */
import { fieldProblem, refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError, type FieldProblem } from '../../shared/errors/portico-error.ts';
import type { TokenCount } from '../../models/formats/dialect.ts';
import type { RequestedLimits } from './chat-schema.ts';
import { APPROVALS, type Approval, type ChatSettings, type Limits } from './chat-settings.ts';
import { stricter } from './deciding.ts';

type CostOf = (tokens: TokenCount) => number | undefined;

/**
 * @param costOf shows whether there are prices: without them a cost cannot be bounded
 * @throws PorticoError `validation_failed`; `model_missing` where the deployment bounds a cost but has no prices
 */
export function toLimits(
  requested: RequestedLimits,
  { limits }: ChatSettings,
  costOf: CostOf,
): Limits {
  const problems: FieldProblem[] = [];
  const lower = (field: keyof RequestedLimits, most: number | undefined): number | undefined => {
    const wanted = requested[field];
    if (wanted !== undefined && most !== undefined && wanted > most) {
      problems.push({ field: `limits.${field}`, message: `may be up to ${most} here` });
    }
    return wanted ?? most;
  };
  const costUsd = lower('cost_usd', limits.costUsd);
  const hasPrices = costOf({ input: 0, output: 0 }) !== undefined;
  if (requested.cost_usd !== undefined && !hasPrices) {
    const message = 'no prices of the model are configured, so its cost cannot be bounded';
    problems.push({ field: 'limits.cost_usd', message });
  }
  const bounded = {
    steps: lower('steps', limits.steps) ?? limits.steps,
    calls: lower('calls', limits.calls) ?? limits.calls,
    tokens: lower('tokens', limits.tokens) ?? limits.tokens,
    seconds: lower('seconds', limits.seconds) ?? limits.seconds,
    costUsd,
  };
  refuseFields(problems);
  if (costUsd !== undefined && !hasPrices) {
    throw new PorticoError(
      'model_missing',
      'PORTICO_CHAT_COST bounds what a chat may cost, but no prices of the model are configured',
    );
  }
  return bounded;
}

/** @throws PorticoError `validation_failed` where the request asks for less strictness than the deployment has */
export function toApproval(requested: Approval | undefined, { approval }: ChatSettings): Approval {
  if (requested !== undefined && stricter(requested, approval) !== requested) {
    const allowed = APPROVALS.slice(APPROVALS.indexOf(approval)).join(' or ');
    throw fieldProblem('approve', `may be ${allowed} here`);
  }
  return requested ?? approval;
}

/** Returns the lower of each pair of bounds. */
export function leastOf(a: Limits, b: Limits): Limits {
  const { costUsd = b.costUsd } = a;
  return {
    steps: Math.min(a.steps, b.steps),
    calls: Math.min(a.calls, b.calls),
    tokens: Math.min(a.tokens, b.tokens),
    seconds: Math.min(a.seconds, b.seconds),
    costUsd: costUsd === undefined ? undefined : Math.min(costUsd, b.costUsd ?? costUsd),
  };
}
