/**
 * The cost of the search in Node at several sizes: building and reading the index, its bytes, the first query and the following ones. The
 * tools are those of the corpora under new names, so words are as frequent as there. A warm query is the best of several rounds, which
 * excludes other work on the machine; the last p99 excludes nothing.
 */
import type { Embedding } from '../../src/search/text/embedding.ts';
import type { Searched } from '../../src/search/index/part.ts';
import { rank } from '../../src/search/rank/rank.ts';
import { buildSegment, readSegment, type SearchedTool } from '../../src/search/index/segment.ts';
import { readServers, type CorpusServer, type Request } from './corpus.ts';
import { percentileOf } from './measures.ts';
import { createSource } from './source.ts';
import { toTable } from './text-table.ts';

const SIZES = [
  [10, 100],
  [100, 100],
  [10, 1_000],
  [2, 5_000],
  [1_000, 10],
] as const;
const ROUNDS = 8;
const LIMIT = 10;

interface Made {
  server: { name: string; description: string };
  tools: SearchedTool[];
}

/** Generates servers with this many tools each, drawn from the given ones. */
export function multiplyServers(
  from: readonly CorpusServer[],
  servers: number,
  tools: number,
): Made[] {
  const below = createSource(7);
  const all = from.flatMap(server => server.tools.map(({ tool }) => tool));
  return Array.from({ length: servers }, (_, s) => ({
    server: { name: `server ${s}`, description: from[s % from.length]?.description ?? '' },
    tools: Array.from({ length: tools }, (__, t): SearchedTool => {
      const tool = all[below(all.length)];
      return { parameters: [], readOnly: false, ...tool, name: `${tool?.name ?? ''}_${t}` };
    }),
  }));
}

function toMs(value: number): string {
  return value < 100 ? value.toFixed(1) : String(Math.round(value));
}

function toMb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** Returns the table. @param embeddingBytes of the file, which is in memory too */
export function measureSpeed(
  folder: string,
  requests: readonly Request[],
  embedding: Embedding,
  embeddingBytes: number,
): string {
  const from = [
    ...readServers(folder, 'gateway-tools.jsonl'),
    ...readServers(folder, 'skill-labels.jsonl'),
  ];
  const rows = SIZES.map(([servers, tools]) => {
    const made = multiplyServers(from, servers, tools);
    const started = performance.now();
    const built = made.map(one => buildSegment(one.tools, embedding));
    const buildMs = performance.now() - started;
    const again = performance.now();
    made.forEach((one, i) =>
      buildSegment(one.tools, embedding, readSegment(built[i]?.buffer ?? new ArrayBuffer())),
    );
    const rebuildMs = performance.now() - again;
    const bytes = built.reduce((sum, one) => sum + one.byteLength, 0);
    const reading = performance.now();
    const searched = built.flatMap((one, i): Searched[] => {
      const segment = readSegment(one.buffer);
      const server = made[i]?.server;
      return segment && server ? [{ segment, server }] : [];
    });
    const readMs = performance.now() - reading;
    const { firstMs, bestMs, allMs } = measureQueries(requests, searched, embedding);
    return [
      `${servers} × ${tools}`,
      ...[buildMs, rebuildMs, readMs, firstMs].map(toMs),
      ...[0.5, 0.99].map(share => toMs(percentileOf(bestMs, share))),
      toMs(percentileOf(allMs, 0.99)),
      toMb(bytes),
      toMb(bytes + embeddingBytes),
    ];
  });
  return toTable(
    [
      'servers × tools',
      'build ms',
      'same again ms',
      'read ms',
      'first query ms',
      'warm p50 ms',
      'p99 ms',
      'p99 of all ms',
      'segments MB',
      'with table MB',
    ],
    rows,
  );
}

/** The very first query; for each request the best of all later rounds; and all of these. */
function measureQueries(
  requests: readonly Request[],
  searched: readonly Searched[],
  embedding: Embedding,
): { firstMs: number; bestMs: number[]; allMs: number[] } {
  const rounds = Array.from({ length: ROUNDS + 1 }, () =>
    requests.map(({ query }) => {
      const started = performance.now();
      rank(query, searched, embedding, LIMIT);
      return performance.now() - started;
    }),
  );
  const [cold = [], ...warm] = rounds;
  return {
    firstMs: cold[0] ?? 0,
    bestMs: requests.map((_, i) => Math.min(...warm.map(round => round[i] ?? Infinity))),
    allMs: warm.flat(),
  };
}
