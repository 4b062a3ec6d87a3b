/** The reasons in words, for people, and verdicts with them. */
import type { AskReason, AskVerdict } from './ask-schema.ts';
import type { GuardVerdict } from './request-guard.ts';

export const REASON_TEXTS: Readonly<Record<AskReason, string>> = {
  request_empty: 'The request is empty',
  request_too_large: 'The request is longer than PORTICO_ASK_MAX_CHARS allows',
  request_control_characters: 'The request contains invisible characters',
  request_blocked: 'The operator refuses requests like this one',
  nothing_allowed: 'No tool that you may see is on the allow-list of ask',
  no_tool_fits: 'The model found no tool for it',
  plan_too_large: 'The plan of the model is too large',
  plan_not_json: 'The plan of the model is not JSON',
  plan_not_strict: 'The plan of the model does not have the required form',
  unknown_tool: 'The plan of the model names a tool that does not exist',
  arguments_do_not_fit: 'The arguments do not fit the schema of the tool',
  schema_unusable: 'The schema of the tool cannot be checked',
  not_allowed: 'The tool is not on the allow-list of ask',
  side_effects_not_allowed:
    'The tool may change something; that needs an entry of the allow-list that names the tool and has side_effects',
  budget_calls: 'The calls of this request are used up',
  budget_questions: 'The requests to the model are used up for this request',
  budget_tokens: 'The tokens of this request are used up',
  budget_time: 'The time limit of this request has passed',
  called: 'The tool was called',
  dry_run: 'The plan is allowed; nothing was called',
  call_failed: 'The plan was allowed, but the call failed',
};

/** The verdict for an allowed plan, and what came of it. */
export const allowed = (reason: 'called' | 'dry_run' | 'call_failed'): AskVerdict => ({
  decision: 'allowed',
  stage: reason === 'dry_run' ? 'budget' : 'call',
  reason,
  message: REASON_TEXTS[reason],
});

/** The verdict for a refusal at a stage. @param detail of a check, one line */
export function refused(
  stage: AskVerdict['stage'],
  reason: AskReason,
  detail?: string,
): { verdict: AskVerdict } {
  const text = REASON_TEXTS[reason];
  const message = detail === undefined ? text : `${text}: ${detail}`;
  return { verdict: { decision: 'refused', stage, reason, message } };
}

/** A verdict in the form for a span. */
export const decisionOf = ({ decision, reason }: AskVerdict) =>
  decision === 'refused' ? `refused:${reason}` : decision === 'allowed' ? reason : decision;

/** The guard's verdict in the form for a span. */
export const guardDecision = (verdict: GuardVerdict) =>
  verdict.decision === 'refused' ? `refused:${verdict.reason}` : verdict.decision;
