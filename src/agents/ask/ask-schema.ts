/** Ask in the API and on the MCP endpoint: what it accepts and what it answers, as one text for both. */
import { z } from 'zod';
import type { ErrorCode } from '../../shared/errors/table.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { Claim } from './evidence.ts';
import type { GuardRefusal } from './request-guard.ts';
import type { InputReason } from './input-policy.ts';
import type { Typed } from './check-output.ts';

/** Body of `POST /api/v1/ask`, and arguments of the tool `ask`. */
export const AskSchema = z.strictObject({
  request: z.string().meta({ description: 'What you want, in your own words' }),
  summarize: z.boolean().default(false).meta({
    description:
      'Also sum up the result; each claim comes with its evidence from the output of the tool',
  }),
  dry_run: z.boolean().default(false).meta({
    description: 'Only plan and check; nothing is called',
  }),
});
export type AskBody = z.infer<typeof AskSchema>;

/** Why a request ended as it did. */
export type AskReason =
  | InputReason
  | 'nothing_allowed'
  | 'no_tool_fits'
  | GuardRefusal['reason']
  | 'called'
  | 'dry_run'
  | 'call_failed';

export interface AskVerdict {
  decision: 'allowed' | 'refused' | 'no_tool';
  /** The stage that decided. */
  stage: 'input' | 'candidates' | 'plan' | GuardRefusal['stage'] | 'call';
  reason: AskReason;
  /** One line for a person. */
  message: string;
}

export interface AskUsage {
  model: string;
  calls: number;
  questions: number;
  tokens: number;
  elapsedMs: number;
  /** In US dollars, where the deployment names prices. */
  cost: number | undefined;
}

/** The outcome of a request. */
export interface AskOutcome {
  verdict: AskVerdict;
  /** Only where the caller sees the tool. */
  plan?: { server: string; tool: string; args: JsonObject };
  /** The tool's result: raw JSON as the server wrote it. */
  result?: string;
  /** Why an allowed call has no result. */
  error?: { code: ErrorCode; message: string };
  typed?: Typed;
  summary?: { claims: readonly Claim[]; dropped: number; problem?: SummaryProblem };
  traceId: string;
  usage: AskUsage;
}

/**
 * Why there is no summary: the model failed or its answer has another form, the budget has no room, the output has no text, or the tool
 * failed.
 */
export type SummaryProblem = 'model_failed' | 'not_claims' | 'budget' | 'no_text' | 'tool_error';

const VerdictSchema = z.object({
  decision: z.enum(['allowed', 'refused', 'no_tool']),
  stage: z.string().meta({ description: 'The step that decided: input, parse, allowlist, …' }),
  reason: z.string().meta({ description: 'A stable code' }),
  message: z.string(),
});

export const AskViewSchema = z.object({
  verdict: VerdictSchema,
  plan: z
    .object({ server: z.string(), tool: z.string(), args: z.looseObject({}) })
    .optional()
    .meta({ description: 'The call that the model planned, if the caller may see that tool' }),
  result: z.looseObject({}).optional().meta({ description: 'As the server returned it' }),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  typed: z
    .object({
      status: z.enum(['valid', 'mismatch', 'absent', 'unchecked', 'none', 'error']),
      detail: z.string().optional(),
    })
    .optional()
    .meta({ description: 'Whether the structured content fits the output schema of the tool' }),
  summary: z
    .object({
      claims: z.array(z.object({ text: z.string(), evidence: z.string() })),
      dropped: z.number().int().meta({ description: 'Claims without evidence in the output' }),
      problem: z.string().optional(),
    })
    .optional(),
  trace_id: z.string(),
  usage: z.object({
    model: z.string(),
    calls: z.number().int(),
    questions: z.number().int(),
    tokens: z.number().int(),
    elapsed_ms: z.number(),
    cost_usd: z.number().optional(),
  }),
});

/** Returns the outcome as the text of a JSON object; the result in it is raw. */
export function toAskText({ result, traceId, usage, ...rest }: AskOutcome): string {
  const { elapsedMs, cost, ...used } = usage;
  const shown = {
    ...rest,
    trace_id: traceId,
    usage: {
      ...used,
      elapsed_ms: Math.round(elapsedMs),
      ...(cost === undefined ? {} : { cost_usd: cost }),
    },
  };
  const text = JSON.stringify(shown);
  return result === undefined ? text : `${text.slice(0, -1)},"result":${result}}`;
}
