/**
 * Development slices generated from the requests of a corpus: the same requests inside chatter, with a typo, two or three at once, with
 * something ruled out, and tools requested by name. Seeded, so equal in each run. The texts come from the corpus at run time and are stored
 * nowhere.
 */
import { STOP_WORDS } from '../../../../src/search/text/stop-words.ts';
import { hashText } from '../../../../src/search/text/terms.ts';
import { isTuned, type Corpus, type Request } from '../../corpus.ts';
import { createSource } from '../../source.ts';
import { OTHER_CHATTER, TUNED_CHATTER } from './chatter.ts';
import type { MadeRequest } from './made-request.ts';
import { toNameRequests } from './names.ts';

type Below = (limit: number) => number;
type Make = (
  request: Request,
  below: Below,
  corpus: Corpus,
  half: readonly Request[],
) => MadeRequest[];

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const CHATTER_WORDS = 50;
const LONG_WORDS = 150;

const MAKERS: Record<string, Make> = {
  'as they are': ({ query, relevant }) => [{ query, tasks: [relevant] }],
  chatter: (request, below) => [toChatter(request, below, CHATTER_WORDS)],
  long: (request, below) => [toChatter(request, below, LONG_WORDS)],
  'one typo': (request, below) => toTypo(request, below),
  'exact names': (request, below, corpus) => toNameRequests(request, below, corpus, 1),
  'two exact names': (request, below, corpus) => toNameRequests(request, below, corpus, 2),
  'two tasks': (request, below, _, half) => toTasks(request, below, half, 2),
  'three tasks': (request, below, _, half) => toTasks(request, below, half, 3),
  negation: (request, below, corpus) => toNegation(request, below, corpus),
};

/** Returns all slices of one half of a corpus, by name. */
export function makeSlices(corpus: Corpus, tuned: boolean): Map<string, MadeRequest[]> {
  const half = corpus.requests.filter(({ query }) => isTuned(query) === tuned);
  return new Map(
    Object.entries(MAKERS).map(([name, make]) => [
      name,
      half.flatMap(request =>
        make(request, createSource(hashText(`${name} ${request.query}`)), corpus, half),
      ),
    ]),
  );
}

const countWords = (text: string): number => text.split(/\s+/).length;

/** Adds sentences before and after, about this many words in total. */
function toChatter({ query, relevant }: Request, below: Below, words: number): MadeRequest {
  const left = [...(isTuned(query) ? TUNED_CHATTER : OTHER_CHATTER)];
  const [before, after]: [string[], string[]] = [[], []];
  for (let count = 0; count < words && left.length > 0;) {
    const [sentence = ''] = left.splice(below(left.length), 1);
    (below(2) === 0 ? before : after).push(sentence);
    count += countWords(sentence);
  }
  const asked = /[.!?]$/.test(query) ? query : `${query}.`;
  return { query: [...before, asked, ...after].join(' '), tasks: [relevant] };
}

/** One letter left out, doubled, swapped with the next or replaced, in one word that carries meaning. */
function toTypo({ query, relevant }: Request, below: Below): MadeRequest[] {
  const words = [...query.matchAll(/[a-z]{5,}/gi)].filter(
    ([word]) => !STOP_WORDS.has(word.toLowerCase()),
  );
  const chosen = words[below(Math.max(words.length, 1))];
  if (!chosen) return [];
  const [word] = chosen;
  const at = 1 + below(word.length - 2);
  const [head, letter, next, tail] = [
    word.slice(0, at),
    word.charAt(at),
    word.charAt(at + 1),
    word.slice(at + 2),
  ];
  const misspelt = [
    `${head}${next}${tail}`,
    `${head}${letter}${letter}${next}${tail}`,
    letter === next ? `${head}${next}${tail}` : `${head}${next}${letter}${tail}`,
    `${head}${LETTERS.charAt(below(26))}${next}${tail}`,
  ][below(4)];
  const end = chosen.index + word.length;
  return [
    { query: `${query.slice(0, chosen.index)}${misspelt}${query.slice(end)}`, tasks: [relevant] },
  ];
}

const JOINTS = ['. Then ', ', and then ', ' and ', '. Also, ', '; '];

/** Joins a request with others that share no tool. */
function toTasks(
  request: Request,
  below: Below,
  half: readonly Request[],
  count: number,
): MadeRequest[] {
  const chosen = [request];
  for (let tries = 0; tries < 100 && chosen.length < count; tries += 1) {
    const other = half[below(half.length)];
    if (!other || chosen.some(one => [...one.relevant].some(id => other.relevant.has(id))))
      continue;
    chosen.push(other);
  }
  const alone = chosen.map(one => one.query.replace(/[.!?]+$/, ''));
  const query = alone.reduce((text, next) => `${text}${JOINTS[below(JOINTS.length)]}${next}`);
  return chosen.length < count ? [] : [{ query, tasks: chosen.map(one => one.relevant), alone }];
}

/** "X, not Y", where Y is another tool of a server that has a right answer. */
function toNegation({ query, relevant }: Request, below: Below, corpus: Corpus): MadeRequest[] {
  const tools = corpus.servers
    .filter(server => server.tools.some(({ id }) => relevant.has(id)))
    .flatMap(server => server.tools.filter(({ id }) => !relevant.has(id)));
  const other = tools[below(Math.max(tools.length, 1))];
  if (!other) return [];
  const said = other.tool.name.replaceAll(/[_-]+/g, ' ');
  const asked = query.replace(/[.!?]+$/, '');
  const text = [
    `${asked}, not ${said}`,
    `${asked} without ${said}`,
    `Do not ${said}, but ${asked}`,
    `${asked}. Don't ${said}.`,
  ][below(4)];
  return [{ query: text ?? '', tasks: [relevant], excluded: new Set([other.id]) }];
}
