/**
 * Splits a query into clauses: its sentences, their parts joined by "then", "also", "and" or a comma, and what it rules out ("not",
 * "without", "don't"). Linear, bounded. Pure.
 */
import { STOP_WORDS } from './stop-words.ts';
import { toWords } from './words.ts';

export interface Clauses {
  /** The query without what it rules out. */
  whole: string;
  /** Its parts; empty where there is only one. */
  parts: string[];
  /** What it rules out. */
  excluded: string[];
}

/** How many parts are kept. */
const MAX_PARTS = 10;
const MAX_EXCLUDED = 2;
const MAX_ORDERS = 20;
/** A part with fewer meaningful words is joined with a neighbour. */
const LEAST_WORDS = 2;
const SENTENCE = /[.!?;](?:\s|$)|[。！？；\n]/u;
const JOINT = /,\s|\s(?:and|then|also|plus)\s|、|，/iu;
const ORDER =
  /(?:^|[,;.!?(]\s?|\b(?:but|and)\s)(?:please\s)?(?:not|never|do not|don['’]?t)\s|\b(?:without|except|instead of|rather than)\s/iu;
/** "Do not forget to …" asks for something; "I am not sure" rules nothing out. */
const NO_ORDER =
  /^(?:able|all|enough|every|forget|have|hesitate|just|know|mind|miss|need|only|really|remember|sure|think|want|worry)\b/iu;
const UNTIL = /[,;.!?\n]|\sbut\s/u;

const countWords = (text: string): number =>
  toWords(text, text.length).filter(({ whole }) => !STOP_WORDS.has(whole)).length;

/** Splits a query. @param text the query, cut to the part that is read */
export function toClauses(text: string): Clauses {
  const { kept: whole, excluded } = toExcluded(text);
  const parts = whole
    .split(SENTENCE)
    .flatMap(sentence => join(sentence.split(JOINT)))
    .filter(part => countWords(part) > 0)
    .slice(0, MAX_PARTS);
  return { whole, parts: parts.length > 1 ? parts : [], excluded };
}

/** Joins a part that says little with the one after it, or with the one before it at the end. */
function join(parts: readonly string[]): string[] {
  const joined: string[] = [];
  let held = '';
  for (const part of parts) {
    held = held === '' ? part : `${held} ${part}`;
    if (countWords(part) >= LEAST_WORDS && countWords(held) >= LEAST_WORDS) {
      joined.push(held);
      held = '';
    }
  }
  if (held !== '') {
    if (joined.length === 0) joined.push(held);
    else joined.push(`${joined.pop() ?? ''} ${held}`);
  }
  return joined;
}

function toExcluded(text: string): { kept: string; excluded: string[] } {
  const excluded: string[] = [];
  let [kept, rest] = ['', text];
  for (let orders = 0; orders < MAX_ORDERS && excluded.length < MAX_EXCLUDED; orders += 1) {
    const order = ORDER.exec(rest);
    if (!order) break;
    const after = rest.slice(order.index + order[0].length);
    const end = UNTIL.exec(after)?.index ?? after.length;
    const said = after.slice(0, end);
    if (NO_ORDER.test(said)) kept += rest.slice(0, order.index + order[0].length) + said;
    else {
      if (countWords(said) > 0) excluded.push(said);
      kept += rest.slice(0, order.index);
    }
    rest = after.slice(end);
  }
  kept += rest;
  // A query that only rules things out is searched for as it is written.
  return countWords(kept) > 0 ? { kept, excluded } : { kept: text, excluded: [] };
}
