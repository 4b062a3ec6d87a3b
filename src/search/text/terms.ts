/**
 * Turns words into the terms that are matched: stop words are dropped, the others are stemmed (Porter), and each term is represented by a
 * 32-bit hash. Pure; the same for definitions and queries.
 */
import { stemmer } from 'stemmer';

import { STOP_WORDS } from './stop-words.ts';
import { toWords } from './words.ts';

export const FNV_OFFSET = 0x811c9dc5;
export const FNV_PRIME = 0x01000193;
const ASCII_WORD = /^[a-z]+$/;

/**
 * Returns the terms of a text in order, with repetitions. An identifier gives its parts and the whole, so that `github` finds `GitHub`.
 * @param maxChars how much of the text is read
 */
export function toTerms(text: string, maxChars: number): string[] {
  const terms: string[] = [];
  for (const { whole, parts } of toWords(text, maxChars)) {
    for (const part of parts) if (!STOP_WORDS.has(part)) terms.push(toStem(part));
    if (parts.length > 1) terms.push(toStem(whole));
  }
  return terms;
}

/** Stems a lower-case word; words of other alphabets and words with digits stay as they are. */
export function toStem(word: string): string {
  return ASCII_WORD.test(word) ? stemmer(word) : word;
}

/** Hashes a text's code units to 32 bits (FNV-1a with a final mix): for look-up, not secure against an adversary. */
export function hashText(text: string, seed = FNV_OFFSET): number {
  let hash = seed;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  }
  return mix(hash);
}

/** The last step of `hashText`. */
export function mix(state: number): number {
  let hash = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
