/** Requests that nothing answers: words of letters drawn at random, the same for each run. */
import { createSource } from './source.ts';

const CONSONANTS = 'bcdfghklmnprstvwz';
const VOWELS = 'aeiou';

/** So many requests of one to six words. */
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
