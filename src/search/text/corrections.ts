/**
 * Suggests corrections for an unknown word: words of the embedding table at one edit (a letter left out, added or replaced, or two
 * swapped), commonest first. The table is public, so a correction reveals no tool. Bounded by the length of a word. Pure.
 */
import type { Embedding } from './embedding.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const LEAST_CHARS = 5;
const MOST_CHARS = 20;
const MAX_CORRECTIONS = 2;
const ASCII_WORD = /^[a-z]+$/;

/** Returns words that may be meant; none where the word is known. */
export function toCorrections(word: string, embedding: Embedding): string[] {
  const isShort = word.length < LEAST_CHARS || word.length > MOST_CHARS;
  if (isShort || !ASCII_WORD.test(word) || isKnown(word, embedding)) return [];
  const found = new Map<string, number>();
  for (const edited of listEdits(word)) {
    const place = embedding.placeOf(edited);
    if (place !== undefined) found.set(edited, place);
  }
  return [...found]
    .toSorted((a, b) => a[1] - b[1])
    .slice(0, MAX_CORRECTIONS)
    .map(([edited]) => edited);
}

/** Tells whether a word is in the table, or is one with a regular English ending. */
function isKnown(word: string, embedding: Embedding): boolean {
  if (embedding.placeOf(word) !== undefined) return true;
  return ENDINGS.some(
    ([ending, instead]) =>
      word.endsWith(ending) &&
      embedding.placeOf(`${word.slice(0, -ending.length)}${instead}`) !== undefined,
  );
}

const ENDINGS = [
  ['s', ''],
  ['es', ''],
  ['ies', 'y'],
  ['ing', ''],
  ['ing', 'e'],
  ['ed', ''],
  ['ed', 'e'],
  ['er', ''],
  ['ly', ''],
] as const;

function* listEdits(word: string): Generator<string> {
  for (let at = 0; at <= word.length; at += 1) {
    const [head, tail] = [word.slice(0, at), word.slice(at)];
    if (tail !== '') yield head + tail.slice(1);
    if (tail.length > 1) yield `${head}${tail.charAt(1)}${tail.charAt(0)}${tail.slice(2)}`;
    for (const letter of LETTERS) {
      yield head + letter + tail;
      if (tail !== '') yield head + letter + tail.slice(1);
    }
  }
}
