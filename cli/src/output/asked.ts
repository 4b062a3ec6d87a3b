/** Formats the result of `portico ask` for people: the tool's output and its summary as data, plan and verdict as notes. Pure. */
import type { z } from 'zod';
import type { AskViewSchema } from '../../../src/agents/ask/ask-schema.ts';
import { showResult } from '../call/show-result.ts';
import { visible } from './table.ts';

/** The gateway's response. */
export type Asked = z.infer<typeof AskViewSchema>;

/** @param isForEyes the tool's output goes to a terminal, so control characters are escaped */
export function formatAsked(asked: Asked, isForEyes: boolean): { data: string; notes: string[] } {
  const { verdict, plan, result, typed, summary, usage } = asked;
  const notes: string[] = [];
  let data = '';
  if (plan) {
    notes.push(visible(`plan: ${plan.server}.${plan.tool} ${JSON.stringify(plan.args)}`));
  }
  if (verdict.decision !== 'refused' && verdict.reason !== 'called') {
    notes.push(visible(verdict.message));
  }
  if (result) {
    const shown = showResult(result, isForEyes);
    data += shown.text;
    notes.push(...shown.notes);
  }
  if (typed?.status === 'mismatch' || typed?.status === 'absent') {
    const detail = typed.detail === undefined ? '' : `: ${typed.detail}`;
    notes.push(
      visible(`the result does not match the output schema of the tool (${typed.status}${detail})`),
    );
  }
  if (summary) {
    const claims = summary.claims.map(
      ({ text, evidence }) =>
        `- ${visible(text)}\n  evidence: ${visible(JSON.stringify(evidence))}\n`,
    );
    if (claims.length > 0) data += `\nSummary\n${claims.join('')}`;
    if (summary.dropped > 0) notes.push(`${summary.dropped} claims without evidence are left out`);
    if (summary.problem !== undefined) notes.push(`no summary: ${visible(summary.problem)}`);
  }
  const used = `${usage.tokens} tokens, ${usage.questions} model request${usage.questions === 1 ? '' : 's'}`;
  notes.push(visible(`${usage.model}: ${used}; trace ${asked.trace_id}`));
  return { data, notes };
}
