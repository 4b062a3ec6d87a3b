/**
 * Reads a model's plan strictly: one JSON object and nothing beside it, no unknown member, none twice, bounded in size and depth. A plan is
 * data: it says what a model wants, and `request-guard.ts` decides whether that is allowed.
 */
import { z } from 'zod';
import { skipString, tryJson } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Longest plan, in UTF-16 units; most of it is arguments. */
export const MAX_PLAN_CHARS = 16_384;
/** Deepest nesting of a plan. */
export const MAX_PLAN_DEPTH = 32;
const MAX_SERVER_CHARS = 200;
const MAX_TOOL_CHARS = 512;
const MAX_REASON_CHARS = 1_000;

const PlanSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('call_tool'),
    server: z.string().min(1).max(MAX_SERVER_CHARS),
    tool: z.string().min(1).max(MAX_TOOL_CHARS),
    args: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({ type: z.literal('none'), reason: z.string().max(MAX_REASON_CHARS) }),
]);

export interface ToolPlan {
  type: 'call_tool';
  /** Name of the server. */
  server: string;
  /** The server's own name for the tool. */
  tool: string;
  args: JsonObject;
}
export type Plan = ToolPlan | { type: 'none'; reason: string };

export type ParseReason = 'plan_too_large' | 'plan_not_json' | 'plan_not_strict';

/** @returns the plan, or why the text is no plan */
export function parsePlan(text: string): { plan: Plan } | { reason: ParseReason } {
  if (text.length > MAX_PLAN_CHARS) return { reason: 'plan_too_large' };
  const json = tryJson(text);
  if (json === undefined) return { reason: 'plan_not_json' };
  const members = countMembers(json, MAX_PLAN_DEPTH);
  // Of two members with one name, readers take the first or the last: a plan that can be read in two ways is refused.
  if (members === undefined || members !== countColons(text)) return { reason: 'plan_not_strict' };
  const parsed = PlanSchema.safeParse(json);
  if (!parsed.success || !isObject(json)) return { reason: 'plan_not_strict' };
  if (parsed.data.type === 'none') return { plan: parsed.data };
  // The arguments as they were parsed, because the schema drops members that it considers dangerous.
  return { plan: { ...parsed.data, args: json['args'] as JsonObject } };
}

/**
 * Counts a value's members at any depth; undefined where it is too deep, has a member `__proto__`, which has a meaning of its own, or a
 * number beyond all that can be written: it would be checked as a number and sent as null.
 */
function countMembers(value: unknown, depth: number): number | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0 || Object.hasOwn(value, '__proto__')) return undefined;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const inner of Object.values(value)) {
    const more = countMembers(inner, depth - 1);
    if (more === undefined) return undefined;
    count += more;
  }
  return count;
}

/** Counts the members that a JSON text writes: each colon outside of strings is one. */
function countColons(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === ':') count += 1;
    else if (text[at] === '"') at = skipString(text, at) - 1;
  }
  return count;
}

/** Returns the schema of a plan, for models that can be bound to one; it lists the names that may be planned. */
export function planSchemaOf(servers: readonly string[], tools: readonly string[]): JsonObject {
  return {
    type: 'object',
    properties: {
      type: { type: 'string', enum: ['call_tool', 'none'] },
      server: { type: 'string', enum: [...new Set(servers)] },
      tool: { type: 'string', enum: [...new Set(tools)] },
      args: { type: 'object' },
      reason: { type: 'string' },
    },
    required: ['type'],
    additionalProperties: false,
  };
}
