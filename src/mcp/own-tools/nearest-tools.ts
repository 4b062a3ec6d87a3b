/**
 * Suggests names that a caller may have meant who gave an unknown one. The names come only from what the caller sees, so that a hidden tool
 * looks as if it did not exist. Linear in the names that are compared. Pure.
 */
import type { Listing } from '../../gateway/listing.ts';
import { editsWithin } from '../../shared/util/nearest-name.ts';

const MAX_SHOWN = 3;
const MAX_WANTED_CHARS = 160;
/** Most wrong letters in a name, and the length below which only one may be wrong. */
const MAX_EDITS = 2;
const SHORT = 6;
/** Distance of the same words in another order, and distance added for another server. */
const REORDERED = 1;
const ELSEWHERE = 1.5;

/** A text with a bit for each letter in it: texts that differ in too many bits cannot be near each other. */
interface Text {
  text: string;
  letters: number;
}

/** A name with the forms of it that are compared. */
interface Folded {
  name: string;
  whole: Text;
  own: Text;
  words: string;
}

const folded = new WeakMap<Listing, readonly Folded[]>();

/** Returns the nearest tool names, nearest first. */
export function nearestTools(wanted: string, listing: Listing): string[] {
  const text = wanted.slice(0, MAX_WANTED_CHARS);
  const parts = text.split(/[.:/]|__/);
  const own = parts.length > 1 ? parts.slice(1).join('_') : text;
  return nearest({ name: '', whole: fold(text), own: fold(own), words: toWords(own) }, of(listing));
}

/** Returns the nearest names of servers, or of skills. */
export function nearestNames(wanted: string, names: readonly string[]): string[] {
  return nearest(
    toFolded(wanted.slice(0, MAX_WANTED_CHARS)),
    names.map(name => toFolded(name)),
  );
}

function of(listing: Listing): readonly Folded[] {
  const known = folded.get(listing);
  if (known) return known;
  const made = listing.items.map(({ name, item }) => toFolded(name, item.key));
  folded.set(listing, made);
  return made;
}

const toFolded = (name: string, own = name): Folded => ({
  name,
  whole: fold(name),
  own: fold(own),
  words: toWords(own),
});

function nearest(wanted: Folded, all: readonly Folded[]): string[] {
  return all
    .map(each => ({ name: each.name, distance: distanceOf(wanted, each) }))
    .filter(({ distance }) => distance < Infinity)
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SHOWN)
    .map(({ name }) => name);
}

function distanceOf(wanted: Folded, each: Folded): number {
  const whole = editsOf(wanted.whole, each.whole);
  if (whole === 0) return 0;
  // The same words in another order have the same letters.
  if (areFar(wanted.own, each.own)) return whole;
  const own = Math.min(
    editsOf(wanted.own, each.own),
    wanted.words === each.words ? REORDERED : Infinity,
  );
  return Math.min(whole, own + ELSEWHERE);
}

function editsOf(wanted: Text, each: Text): number {
  if (wanted.text === '' || each.text === '' || areFar(wanted, each)) return Infinity;
  const most = wanted.text.length < SHORT ? 1 : MAX_EDITS;
  return editsWithin(wanted.text, each.text, most) ?? Infinity;
}

/** Whether two texts are too far apart, judged by their letters: one edit removes and adds at most one letter. */
function areFar(wanted: Text, each: Text): boolean {
  let different = wanted.letters ^ each.letters;
  let count = 0;
  for (; different !== 0; different &= different - 1) count += 1;
  return count > 2 * MAX_EDITS;
}

/** Keeps letters and digits, in lower case: other differences do not make another name. */
function fold(name: string): Text {
  const text = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  let letters = 0;
  for (let at = 0; at < text.length; at += 1) letters |= 1 << (text.charCodeAt(at) % 32);
  return { text, letters };
}

/** The words of a name in alphabetical order. */
const toWords = (text: string) =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .toSorted()
    .join(' ');
