/**
 * Refuses lone surrogates (halves of a character). Text of records is stored as UTF-8, which has none, so the stored text would differ from
 * the one sent.
 */
import { fieldProblem } from '../shared/errors/field-problems.ts';

/** @returns the body unchanged. @throws PorticoError `validation_failed`, at the first text with a lone surrogate */
export function wholeText<T>(body: T): T {
  const path = findHalf(body);
  if (path) throw fieldProblem(path.join('.') || '(body)', 'contains half of a character');
  return body;
}

/** Returns the path of member names to the first lone surrogate, if there is one. */
function findHalf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (!name.isWellFormed()) return [];
    const path = findHalf(member);
    if (path) return [name, ...path];
  }
  return undefined;
}
