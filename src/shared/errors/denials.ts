/** Codes of what was refused by a decision on the caller. What is hidden is unknown, so both count. */
import type { ErrorCode } from './table.ts';

const DENIALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'forbidden',
  'rate_limited',
  'budget_reached',
  'tool_not_found',
  'prompt_not_found',
  'resource_not_found',
]);

/** Whether a code says that the caller may not. */
export const isDenial = (code: ErrorCode): boolean => DENIALS.has(code);
