/** Requests without an answer: words of random letters, the same in each run. */
import { createSource } from './source.ts';

const CONSONANTS = 'bcdfghklmnprstvwz';
const VOWELS = 'aeiou';

/** Returns this many requests of one to six words. */
export function createNonsense(count: number): string[] {
  const below = createSource(20260728);
  const letter = (letters: string): string => letters[below(letters.length)] ?? '';
  const word = (): string =>
    Array.from(
      { length: 2 + below(3) },
      () => letter(CONSONANTS) + letter(VOWELS) + letter(CONSONANTS),
    ).join('');
  return Array.from({ length: count }, () => Array.from({ length: 1 + below(6) }, word).join(' '));
}
