/**
 * What an embedding model adds: the quality of the ranking with and without it, with other weights, and the time of a query over 10,000
 * tools with vectors of its length. The speed of the model itself is not measured.
 */
import type { Embedding } from '../../src/search/text/embedding.ts';
import {
  buildModelVectors,
  readModelVectors,
  toModelVector,
} from '../../src/search/index/model-vectors.ts';
import { rank, type Searched } from '../../src/search/rank/rank.ts';
import { TUNING, type Tuning } from '../../src/search/rank/tuning.ts';
import { isTuned, toSearched, type Corpus, type CorpusServer } from './corpus.ts';
import { MEASURES, percentileOf, toMeans, toMeasures } from './measures.ts';
import type { Embed } from './model-source.ts';
import { readSlices } from './slices.ts';
import { makeSlices } from './slices/made/made.ts';
import { multiplyServers } from './speed.ts';
import { toTable } from './text-table.ts';

const MOST = 10_000;
const SIZE = [10, 1_000] as const;
const ROUNDS = 8;
const AT_ONCE = 64;
const TIMED = 50;

/** The compared settings: weights of the model, and weights of the table beside a model weight of 1. */
const VARIANTS: readonly [string, Tuning][] = [
  ...[0, 0.5, 1, 1.5, 2].map((modelWeight): [string, Tuning] => [
    `model ${modelWeight}`,
    { ...TUNING, modelWeight },
  ]),
  ...[0.2, 0.3, 0.4, 0.5, 0.6].map((semanticWeight): [string, Tuning] => [
    `table ${semanticWeight}`,
    { ...TUNING, semanticWeight, modelWeight: 1 },
  ]),
];

async function toModelSearched(
  server: CorpusServer,
  embedding: Embedding,
  embed: Embed,
): Promise<Searched> {
  const tools = server.tools.map(({ tool }) => tool);
  const { bytes, failure } = await buildModelVectors(tools, embed, AT_ONCE);
  if (failure !== undefined) throw failure;
  return { ...toSearched(server, embedding), modelVectors: readModelVectors(bytes.buffer) };
}

type Answer = (query: string, tuning: Tuning) => string[];

/** @param queries all queries that will be answered */
async function createModelAnswerer(
  corpus: Corpus,
  queries: readonly string[],
  embedding: Embedding,
  embed: Embed,
): Promise<Answer> {
  const searched: Searched[] = [];
  for (const server of corpus.servers) {
    searched.push(await toModelSearched(server, embedding, embed));
  }
  const vectors = new Map<string, Float32Array>();
  for (let from = 0; from < queries.length; from += AT_ONCE) {
    const some = queries.slice(from, from + AT_ONCE);
    const made = await embed(some);
    some.forEach((query, i) => vectors.set(query, toModelVector(made[i] ?? [])));
  }
  return (query, tuning) =>
    rank(query, searched, embedding, MOST, tuning, vectors.get(query)).map(
      ({ searched: place, tool }) => corpus.servers[place]?.tools[tool]?.id ?? '',
    );
}

/** Returns a table of one corpus. @throws where the model does not answer */
export async function measureModel(
  title: string,
  corpus: Corpus,
  embedding: Embedding,
  embed: Embed,
): Promise<string> {
  const { requests } = corpus;
  const queries = requests.map(({ query }) => query);
  const answer = await createModelAnswerer(corpus, queries, embedding, embed);
  const rows = VARIANTS.flatMap(([variant, tuning]) => {
    const results = requests.map(({ query, relevant }) => ({
      isTuned: isTuned(query),
      measures: toMeasures(answer(query, tuning), relevant),
    }));
    const toRow = (label: string, of: typeof results): string[] => {
      const means = toMeans(of.map(({ measures }) => measures));
      return [variant, label, ...MEASURES.map(key => means[key].toFixed(3))];
    };
    return [
      toRow('all', results),
      toRow(
        'tuned on',
        results.filter(one => one.isTuned),
      ),
      toRow(
        'other half',
        results.filter(one => !one.isTuned),
      ),
    ];
  });
  return toTable([title, 'requests', 'recall@1', 'recall@5', 'recall@10', 'nDCG@10', 'MRR'], rows);
}

/** nDCG@10 of a corpus's slices, with each weight. @throws where the model does not answer */
export async function measureModelSlices(
  corpus: Corpus,
  embedding: Embedding,
  embed: Embed,
): Promise<string> {
  const slices = [
    ...readSlices(corpus).map(({ name, requests }) => ({ name, requests })),
    ...[true, false].flatMap(half =>
      [...makeSlices(corpus, half)].map(([name, made]) => ({
        name: half ? name : `${name}, other half`,
        requests: made.map(({ query, tasks }) => ({
          query,
          relevant: new Set(tasks.flatMap(task => [...task])),
        })),
      })),
    ),
  ].filter(({ name }) => !name.includes('exact names'));
  const queries = slices.flatMap(({ requests }) => requests.map(({ query }) => query));
  const answer = await createModelAnswerer(corpus, queries, embedding, embed);
  const rows = slices.map(({ name, requests }) => [
    name,
    ...VARIANTS.map(([, tuning]) => {
      const all = requests.map(
        ({ query, relevant }) => toMeasures(answer(query, tuning), relevant).ndcg10,
      );
      return (all.reduce((sum, one) => sum + one, 0) / Math.max(all.length, 1)).toFixed(3);
    }),
  ]);
  return toTable(['slice', ...VARIANTS.map(([variant]) => variant)], rows);
}

/** Time of a query over 10 × 1,000 tools with vectors as long as the model's; the query's vector is computed before. */
export async function measureModelSpeed(
  { servers, requests }: Corpus,
  embedding: Embedding,
  embed: Embed,
): Promise<string> {
  const [made] = await embed(['any request']);
  if (!made) throw new Error('the model gave no vector');
  const vector = toModelVector(made);
  const same: Embed = async texts => texts.map(() => [...vector]);
  const searched = await Promise.all(
    multiplyServers(servers, ...SIZE).map(({ server, tools }) => {
      const listed = tools.map(tool => ({ id: '', tool }));
      return toModelSearched({ ...server, tools: listed }, embedding, same);
    }),
  );
  const timesOf = (model?: Float32Array): number[] =>
    requests.slice(0, TIMED).map(({ query }) => {
      const rounds = Array.from({ length: ROUNDS }, () => {
        const before = performance.now();
        rank(query, searched, embedding, 10, TUNING, model);
        return performance.now() - before;
      });
      return Math.min(...rounds);
    });
  const toRow = (label: string, times: number[]): string[] => [
    label,
    ...[0.5, 0.99].map(share => `${percentileOf(times, share).toFixed(1)} ms`),
  ];
  return toTable(
    [`${SIZE.join(' × ')} tools, ${vector.length} numbers`, 'p50', 'p99'],
    [toRow('without', timesOf()), toRow('with the model', timesOf(vector))],
  );
}
