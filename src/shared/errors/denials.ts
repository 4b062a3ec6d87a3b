/** Error codes that mean the caller was denied. A hidden item looks unknown, so the not-found codes count too. */
import type { ErrorCode } from './table.ts';

const DENIALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'forbidden',
  'rate_limited',
  'budget_reached',
  'tool_not_found',
  'prompt_not_found',
  'resource_not_found',
]);

/** Whether a code means that the caller was denied. */
export const isDenial = (code: ErrorCode): boolean => DENIALS.has(code);
