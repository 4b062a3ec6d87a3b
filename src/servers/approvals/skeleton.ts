/**
 * What a name looks like (UTS #39, made coarser for names that people skim and models copy). It ignores compatibility forms, marks,
 * invisible characters, look-alikes, case, separators and a trailing version. A skeleton is coarser still: it treats i, l and 1 as one.
 * Only names with the same skeleton are compared with each other (`confusable-names.ts`), and approvals are looked up by it. Pure.
 */
import { hasHidden } from '../../shared/util/visible-text.ts';
import { CONFUSABLES } from './confusables.ts';

/** A list that shows a name on one line hides everything after this. */
const LINE_END = /[\r\n\v\f\x85\u2028\u2029]/u;
const UNSEEN = /[\p{M}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const SEPARATORS = /[\p{P}\p{Z}\p{S}\s]/gu;
/** A trailing version, its digits as the table maps them. */
const VERSION = /[._\-\s][vV][\dlO]{1,3}$/u;
const IS_ASCII = /^[\0-\x7f]+$/;
/** Longest skeleton that is stored as it is, in characters. */
const MAX_CHARS = 64;

/** Prototype of each look-alike character. */
const PROTOTYPES = parseTable(CONFUSABLES);

/** Returns the skeleton of a name; a name without letters and digits is its own skeleton. */
export function skeletonOf(name: string): string {
  const skeleton = appearanceOf(name).replaceAll('i', 'l');
  return skeleton === '' ? name : skeleton;
}

/**
 * Returns what a name looks like to a reader who skims it; a name without letters and digits stays as it is.
 * @param stroke what a 1 and other upright strokes are mistaken for
 */
export function appearanceOf(name: string, stroke: 'l' | 'i' = 'l'): string {
  const line = withStrokes(name.split(LINE_END, 1)[0] ?? '', stroke);
  const plain = toPrototypes(decompose(line)).trim().replace(VERSION, '');
  const folded = toPrototypes(decompose(plain.toLowerCase())).toLowerCase();
  const bare = folded.replaceAll(SEPARATORS, '');
  return bare === '' ? name : bare;
}

/** Returns the skeleton, or its digest if it is long. */
export async function shortSkeleton(
  name: string,
  digest: (text: string) => Promise<string>,
): Promise<string> {
  const skeleton = skeletonOf(name);
  return skeleton.length <= MAX_CHARS ? skeleton : `#${await digest(skeleton)}`;
}

/** Whether a non-ASCII character looks like an ASCII one. */
export function looksLikeAscii(character: string): boolean {
  const plain = toPrototypes(toPrototypes(character).normalize('NFKD'));
  return IS_ASCII.test(plain);
}

/** Whether a name is disguised: it has invisible characters, or blanks around it. */
export function isDisguised(name: string): boolean {
  return hasHidden(name) || name !== name.trim();
}

/** Maps look-alikes first, since a mark or a decomposable character may look like a letter. */
const decompose = (text: string): string =>
  toPrototypes(text).normalize('NFKD').replaceAll(UNSEEN, '');

const withStrokes = (text: string, stroke: string): string =>
  Array.from(text, character => {
    return character !== 'l' && PROTOTYPES.get(character) === 'l' ? stroke : character;
  }).join('');

const toPrototypes = (text: string): string =>
  Array.from(text, character => PROTOTYPES.get(character) ?? character).join('');

function parseTable(table: string): ReadonlyMap<string, string> {
  const prototypes = new Map<string, string>();
  for (const entry of table.replaceAll('\n', '').split(';')) {
    const [plain = '', steps = ''] = entry.split(':');
    if (plain === '') continue;
    const codes = plain.split('+').map(code => Number.parseInt(code, 36));
    const prototype = String.fromCodePoint(...codes);
    let code = 0;
    for (const step of steps.split(',')) {
      code += Number.parseInt(step, 36);
      prototypes.set(String.fromCodePoint(code), prototype);
    }
  }
  return prototypes;
}
