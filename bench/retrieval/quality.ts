/**
 * How well requests are answered: words alone, vectors alone and both, for each kind of request and for both halves of the requests, the
 * one the ranking was tuned on and the other; and whether scores are meaningful.
 */
import type { Embedding } from '../../src/search/text/embedding.ts';
import { rank } from '../../src/search/rank/rank.ts';
import { TUNING, type Tuning } from '../../src/search/rank/tuning.ts';
import { isTuned, toSearched, type Corpus } from './corpus.ts';
import { MEASURES, percentileOf, toCalibrationError, toMeans, toMeasures } from './measures.ts';
import { toTable } from './text-table.ts';
import { createNonsense } from './nonsense.ts';

/** The compared settings. */
export const VARIANTS: Record<string, Tuning> = {
  'words alone, no neighbours': { ...TUNING, semanticWeight: 0, neighbourWeight: 0 },
  'words alone': { ...TUNING, semanticWeight: 0 },
  'vectors alone': { ...TUNING, lexicalWeight: 0 },
  'fused, no neighbours': { ...TUNING, neighbourWeight: 0 },
  fused: TUNING,
};

const MOST = 10_000;

/** Returns a function that answers requests of a corpus with ids and scores, the best first. */
export function createAnswerer(
  corpus: Corpus,
  embedding: Embedding,
): (query: string, tuning: Tuning) => { id: string; score: number }[] {
  const searched = corpus.servers.map(server => toSearched(server, embedding));
  return (query, tuning) =>
    rank(query, searched, embedding, MOST, tuning).map(({ searched: place, tool, score }) => ({
      id: corpus.servers[place]?.tools[tool]?.id ?? '',
      score,
    }));
}

/** Returns a table of one corpus. */
export function measureQuality(name: string, corpus: Corpus, embedding: Embedding): string {
  const answer = createAnswerer(corpus, embedding);
  const kinds = [...new Set(corpus.requests.map(({ kind }) => kind))];
  const rows = Object.entries(VARIANTS).flatMap(([variant, tuning]) => {
    const results = corpus.requests.map(request => ({
      request,
      measures: toMeasures(
        answer(request.query, tuning).map(({ id }) => id),
        request.relevant,
      ),
    }));
    const toRow = (label: string, of: typeof results): string[] => {
      const means = toMeans(of.map(({ measures }) => measures));
      return [variant, label, String(of.length), ...MEASURES.map(key => means[key].toFixed(3))];
    };
    const byHalf = (tuned: boolean) =>
      results.filter(({ request }) => isTuned(request.query) === tuned);
    const rest = [
      toRow('tuned on', byHalf(true)),
      toRow('other half', byHalf(false)),
      ...kinds.map(kind =>
        toRow(
          kind,
          results.filter(({ request }) => request.kind === kind),
        ),
      ),
    ];
    return [toRow('all', results), ...(variant === 'fused' ? rest : [])];
  });
  const headings = [name, 'requests', 'n', 'recall@1', 'recall@5', 'recall@10', 'nDCG@10', 'MRR'];
  return toTable(headings, rows);
}

/** How meaningful scores are: for the first ten results of each request that was not tuned on, and for the first result of nonsense. */
export function measureScores(name: string, corpus: Corpus, embedding: Embedding): string {
  const answer = createAnswerer(corpus, embedding);
  const held = corpus.requests.filter(({ query }) => !isTuned(query));
  const scored = held.flatMap(({ query, relevant }) =>
    answer(query, TUNING)
      .slice(0, 10)
      .map(({ id, score }) => ({ score, right: relevant.has(id) })),
  );
  const firsts = held.map(({ query }) => answer(query, TUNING)[0]?.score ?? 0);
  const nonsense = createNonsense(100).map(query => answer(query, TUNING)[0]?.score ?? 0);
  const show = (values: number[]): string[] =>
    [0.1, 0.5, 0.9, 1].map(share => percentileOf(values, share).toFixed(2));
  return toTable(
    [name, 'first: p10', 'p50', 'p90', 'most', 'calibration error'],
    [
      ['requests', ...show(firsts), toCalibrationError(scored).toFixed(3)],
      ['nonsense', ...show(nonsense), ''],
    ],
  );
}
