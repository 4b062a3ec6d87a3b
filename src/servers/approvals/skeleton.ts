/**
 * What a name looks like (UTS #39, made coarser for names that people skim and models copy). Compatibility forms, marks, invisible
 * characters, look-alikes, case, separators and a version at the end make no difference. A skeleton is coarser still, with i, l and 1 as
 * one: only names of one skeleton are compared with each other (`confusable-names.ts`), and approvals are found by it. Pure.
 */
import { hasHidden } from '../../shared/util/visible-text.ts';
import { CONFUSABLES } from './confusables.ts';

/** Where a list shows a name on one line, the rest of it is not seen. */
const LINE_END = /[\r\n\v\f\x85\u2028\u2029]/u;
const UNSEEN = /[\p{M}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const SEPARATORS = /[\p{P}\p{Z}\p{S}\s]/gu;
/** A version of another tool, its digits as the table has them. */
const VERSION = /[._\-\s][vV][\dlO]{1,3}$/u;
const IS_ASCII = /^[\0-\x7f]+$/;
/** Longest skeleton that is kept as it is, in characters. */
const MAX_CHARS = 64;

/** Characters by those that look like them. */
const PROTOTYPES = parseTable(CONFUSABLES);

/** The skeleton of a name; that of one without letters and digits is the name. */
export function skeletonOf(name: string): string {
  const skeleton = lookOf(name).replaceAll('i', 'l');
  return skeleton === '' ? name : skeleton;
}

/**
 * What a name looks like to whoever skims it; that of one without letters and digits is the name.
 * @param stroke what a 1 and other upright strokes are taken for
 */
export function lookOf(name: string, stroke: 'l' | 'i' = 'l'): string {
  const line = withStrokes(name.split(LINE_END, 1)[0] ?? '', stroke);
  const plain = toPrototypes(decompose(line)).trim().replace(VERSION, '');
  const folded = toPrototypes(decompose(plain.toLowerCase())).toLowerCase();
  const discover = folded.replaceAll(SEPARATORS, '');
  return discover === '' ? name : discover;
}

/** A form of a skeleton that is short: the skeleton, or where it is long its digest. */
export async function shortSkeleton(
  name: string,
  digest: (text: string) => Promise<string>,
): Promise<string> {
  const skeleton = skeletonOf(name);
  return skeleton.length <= MAX_CHARS ? skeleton : `#${await digest(skeleton)}`;
}

/** Whether a character that is not of ASCII looks like one that is. */
export function looksLikeAscii(character: string): boolean {
  const plain = toPrototypes(toPrototypes(character).normalize('NFKD'));
  return IS_ASCII.test(plain);
}

/** Whether a name has what an honest name has not: characters that cannot be seen, or blanks around it. */
export function isDisguised(name: string): boolean {
  return hasHidden(name) || name !== name.trim();
}

/** Look-alikes first, since a mark or what decomposes may look like a letter. */
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
