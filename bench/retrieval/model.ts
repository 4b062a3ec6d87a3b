/**
 * What a model for vectors adds, asked at an OpenAI-compatible address: the quality of the ranking with and without it, and the time of a query
 * over 10,000 tools with vectors of its length. Not asked of a model: how fast it is itself.
 */
import type { Embedding } from '../../src/search/text/embedding.ts';
import {
  buildModelVectors,
  readModelVectors,
  toModelVector,
} from '../../src/search/index/model-vectors.ts';
import { rank, type Searched } from '../../src/search/rank/rank.ts';
import { TUNING } from '../../src/search/rank/tuning.ts';
import { createHttpChat } from '../../src/models/http-chat.ts';
import { OPENAI_CHAT_API } from '../../src/models/openai-api.ts';
import { isTuned, toSearched, type Corpus, type CorpusServer } from './corpus.ts';
import { MEASURES, percentileOf, toMeans, toMeasures } from './measures.ts';
import { multiplyServers } from './speed.ts';
import { toTable } from './text-table.ts';

export interface ModelOptions {
  /** Address of the API with its version. */
  url: string;
  name: string;
  key: string | undefined;
}

const MOST = 10_000;
const SIZE = [10, 1_000] as const;
const ROUNDS = 8;
const AT_ONCE = 64;
const TIMED = 50;
const WEIGHTS = [0, 0.5, 1, 2];

type Embed = (texts: readonly string[]) => Promise<number[][]>;

function createEmbed({ url, name, key }: ModelOptions): Embed {
  const findKey = () => Promise.resolve(key);
  const { embed } = createHttpChat({
    api: OPENAI_CHAT_API,
    url,
    model: name,
    embedModel: name,
    findKey,
  });
  const attempt = { signal: new AbortController().signal, onSign: () => {}, onHandedOn: () => {} };
  return texts => embed?.of(texts, attempt) ?? Promise.reject(new Error('no vectors at this API'));
}

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

async function toVectors(texts: readonly string[], embed: Embed): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < texts.length; from += AT_ONCE) {
    vectors.push(...(await embed(texts.slice(from, from + AT_ONCE))).map(toModelVector));
  }
  return vectors;
}

/** A table of one corpus. @throws where the model does not answer */
export async function measureModel(
  title: string,
  corpus: Corpus,
  embedding: Embedding,
  options: ModelOptions,
): Promise<string> {
  const embed = createEmbed(options);
  const searched: Searched[] = [];
  for (const server of corpus.servers) {
    searched.push(await toModelSearched(server, embedding, embed));
  }
  const vectors = await toVectors(
    corpus.requests.map(({ query }) => query),
    embed,
  );
  const rows = WEIGHTS.flatMap(modelWeight => {
    const tuning = { ...TUNING, modelWeight };
    const results = corpus.requests.map(({ query, relevant }, i) => {
      const ids = rank(query, searched, embedding, MOST, tuning, vectors[i]).map(
        ({ searched: place, tool }) => corpus.servers[place]?.tools[tool]?.id ?? '',
      );
      return { isTuned: isTuned(query), measures: toMeasures(ids, relevant) };
    });
    const toRow = (label: string, of: typeof results): string[] => {
      const means = toMeans(of.map(({ measures }) => measures));
      return [`weight ${modelWeight}`, label, ...MEASURES.map(key => means[key].toFixed(3))];
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

/** How long a query takes over 10 × 1,000 tools whose vectors are as long as the model's; its answer is at hand. */
export async function measureModelSpeed(
  { servers, requests }: Corpus,
  embedding: Embedding,
  options: ModelOptions,
): Promise<string> {
  const [vector] = await toVectors(['any request'], createEmbed(options));
  if (!vector) throw new Error('the model gave no vector');
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
