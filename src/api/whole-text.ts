/** Text of records is kept as UTF-8, which has no halves of a character (lone surrogates): what is stored would not be what was sent. */
import { fieldProblem } from '../shared/errors/field-problems.ts';

/** @returns the body as it is. @throws PorticoError `validation_failed`, at the first text with such a half */
export function wholeText<T>(body: T): T {
  const path = findHalf(body);
  if (path) throw fieldProblem(path.join('.') || '(body)', 'has half of a character');
  return body;
}

/** Where there is one: the names of members on the way to it. */
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
