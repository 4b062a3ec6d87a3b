/** How generated slices are answered, for the half that the ranking is tuned on and the other: words alone, vectors alone and fused. */
import type { Embedding } from '../../src/search/text/embedding.ts';
import type { Corpus } from './corpus.ts';
import { toMeasures } from './measures.ts';
import { createAnswerer, VARIANTS } from './quality.ts';
import { makeSlices } from './slices/made/made.ts';
import type { MadeRequest } from './slices/made/made-request.ts';
import { toTable } from './text-table.ts';

const COMPARED = ['words alone', 'vectors alone', 'fused'];
const SHOWN = 10;

/** Result of one request. */
interface Result {
  /** Over the tools of all its tasks. */
  ndcg10: number;
  /** 1 if the first tool belongs to a task. */
  first: number;
  isExcludedFirst: number;
  /** Each task has a tool among the first ten. */
  allInTen: number;
}

/** What a perfect split of a query into its tasks would show: the results of each task in turn. */
function interleave(lists: readonly (readonly string[])[]): string[] {
  const most = Math.max(...lists.map(list => list.length));
  const turns = Array.from({ length: most }, (_, turn) => lists.flatMap(list => list[turn] ?? []));
  return [...new Set(turns.flat())];
}

function toResult(ids: readonly string[], { tasks, excluded }: MadeRequest): Result {
  const first = ids[0] ?? '';
  const shown = ids.slice(0, SHOWN);
  return {
    ndcg10: toMeasures(ids, new Set(tasks.flatMap(task => [...task]))).ndcg10,
    first: Number(tasks.some(task => task.has(first))),
    isExcludedFirst: Number(excluded?.has(first) ?? false),
    allInTen: Number(tasks.every(task => shown.some(id => task.has(id)))),
  };
}

/** Returns a table of a corpus's slices. */
export function measureMadeSlices(name: string, corpus: Corpus, embedding: Embedding): string {
  const answer = createAnswerer(corpus, embedding);
  const [tuned, others] = [makeSlices(corpus, true), makeSlices(corpus, false)];
  const rows = [...tuned].flatMap(([slice, requests]) =>
    COMPARED.map(variant => {
      const tuning = VARIANTS[variant];
      const cells = [requests, others.get(slice) ?? []].flatMap(list => {
        const idsOf = (query: string): string[] =>
          tuning ? answer(query, tuning).map(({ id }) => id) : [];
        const results = list.map(made => toResult(idsOf(made.query), made));
        const divided = list.flatMap(made =>
          made.alone ? [toResult(interleave(made.alone.map(idsOf)), made)] : [],
        );
        const mean = (key: keyof Result, of: readonly Result[] = results): string =>
          (of.reduce((sum, one) => sum + one[key], 0) / Math.max(of.length, 1)).toFixed(3);
        return [
          String(list.length),
          mean('ndcg10'),
          mean('first'),
          mean('allInTen'),
          divided.length > 0 ? mean('allInTen', divided) : '',
          list[0]?.excluded ? mean('isExcludedFirst') : '',
        ];
      });
      return [slice, variant, ...cells];
    }),
  );
  const half = ['n', 'nDCG@10', 'first', 'all in 10', 'divided perfectly', 'ruled out first'];
  return toTable(
    [`${name}, made`, 'ranking', ...half, ...half.map(one => `other half: ${one}`)],
    rows,
  );
}
