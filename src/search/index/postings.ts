/** The lexical half of a segment: for each term, the tools that contain it and how often it occurs in each of their fields. Pure. */
import { FIELD_COUNT, type SegmentArrays } from './segment-layout.ts';
import {
  MAX_DESCRIPTION_CHARS,
  MAX_NAME_CHARS,
  MAX_PARAMETERS,
  MAX_PARAMETER_CHARS,
  MAX_TITLE_CHARS,
  divideDescription,
  type SearchedTool,
} from './searched-tool.ts';
import { hashText, toTerms } from '../text/terms.ts';

type Postings = Pick<
  SegmentArrays,
  'termHashes' | 'postingStarts' | 'postingTools' | 'frequencies' | 'lengths'
>;

/** Cap on a term's count in each field: more repetitions say no more, and keyword stuffing gains nothing. */
const MAX_FREQUENCIES = [3, 2, 3, 3, 3];
const MAX_LENGTH = 65_535;

/** Builds the postings of tools, which are identified by their place in the list. */
export function toPostings(tools: readonly SearchedTool[]): Postings {
  const lengths = new Uint16Array(FIELD_COUNT * tools.length);
  const byTerm = new Map<number, number[]>();
  let postings = 0;
  tools.forEach((tool, index) => {
    const counts = new Map<number, number[]>();
    toFields(tool).forEach((terms, field) => {
      lengths[FIELD_COUNT * index + field] = Math.min(terms.length, MAX_LENGTH);
      for (const term of terms) {
        const hash = hashText(term);
        let count = counts.get(hash);
        if (!count) counts.set(hash, (count = Array.from<number>({ length: FIELD_COUNT }).fill(0)));
        count[field] = Math.min((count[field] ?? 0) + 1, MAX_FREQUENCIES[field] ?? 0);
      }
    });
    for (const [hash, count] of counts) {
      const list = byTerm.get(hash);
      if (list) list.push(index, ...count);
      else byTerm.set(hash, [index, ...count]);
    }
    postings += counts.size;
  });
  return { lengths, ...flatten(byTerm, postings) };
}

/** The terms of each field, in the order of `FIELDS`. */
function toFields(tool: SearchedTool): string[][] {
  const parameters = tool.parameters.slice(0, MAX_PARAMETERS);
  const chars = MAX_PARAMETER_CHARS;
  const { lead, rest } = divideDescription(tool.description ?? '');
  return [
    toTerms(tool.name, MAX_NAME_CHARS),
    [...toTerms(tool.title ?? '', MAX_TITLE_CHARS), ...toTerms(lead, lead.length)],
    toTerms(rest, MAX_DESCRIPTION_CHARS - lead.length),
    parameters.flatMap(({ name }) => toTerms(name, chars)),
    parameters.flatMap(({ description }) => toTerms(description ?? '', chars)),
  ];
}

/** @param byTerm for each term its postings, one after another: tool index, then frequency per field */
function flatten(
  byTerm: ReadonlyMap<number, number[]>,
  postings: number,
): Omit<Postings, 'lengths'> {
  const termHashes = Uint32Array.from(byTerm.keys()).toSorted();
  const postingStarts = new Uint32Array(termHashes.length + 1);
  const postingTools = new Uint16Array(postings);
  const frequencies = new Uint8Array(FIELD_COUNT * postings);
  let at = 0;
  termHashes.forEach((hash, term) => {
    const list = byTerm.get(hash) ?? [];
    for (let i = 0; i < list.length; i += 1 + FIELD_COUNT) {
      postingTools[at] = list[i] ?? 0;
      for (let f = 0; f < FIELD_COUNT; f += 1) {
        frequencies[FIELD_COUNT * at + f] = list[i + 1 + f] ?? 0;
      }
      at += 1;
    }
    postingStarts[term + 1] = at;
  });
  return { termHashes, postingStarts, postingTools, frequencies };
}
