/**
 * Our own slices: requests of the gateway corpus in other words (`slices/README.md`). Measured beside the originals, words alone and fused.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Embedding } from '../../src/search/text/embedding.ts';
import { hashText } from '../../src/search/text/terms.ts';
import type { Corpus, Request } from './corpus.ts';
import { MEASURES, toMeans, toMeasures } from './measures.ts';
import { createAnswerer, VARIANTS } from './quality.ts';
import { toTable } from './text-table.ts';

const FOLDER = fileURLToPath(new URL('slices/', import.meta.url));
const COMPARED = ['words alone', 'fused'] as const;

/** Reworded requests, and their originals. */
export interface Slice {
  name: string;
  requests: Request[];
  originals: Request[];
}

/** The key of a request in the files, which do not contain the request itself. */
export const keyOf = (query: string): string => hashText(query).toString(16).padStart(8, '0');

/** Reads all slices. Throws where one refers to a request that is not in the corpus. */
export function readSlices(corpus: Corpus): Slice[] {
  const byKey = new Map(corpus.requests.map(request => [keyOf(request.query), request]));
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  return files
    .filter(file => file.endsWith('.json'))
    .toSorted()
    .map(file => {
      const said = JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8')) as Record<string, string>;
      const pairs = Object.entries(said).map(([key, query]) => {
        const original = byKey.get(key);
        if (!original) throw new Error(`${file}: the corpus has no request ${key}`);
        return { original, request: { ...original, query } };
      });
      return {
        name: file.replace(/^.*\/|\.json$/g, ''),
        requests: pairs.map(({ request }) => request),
        originals: pairs.map(({ original }) => original),
      };
    });
}

/** Returns a table of all slices of a corpus. */
export function measureSlices(corpus: Corpus, embedding: Embedding): string {
  const answer = createAnswerer(corpus, embedding);
  const rows = readSlices(corpus).flatMap(({ name, requests, originals }) =>
    COMPARED.flatMap(variant => {
      const tuning = VARIANTS[variant];
      if (!tuning) return [];
      const toRow = (label: string, list: readonly Request[]): string[] => {
        const measured = list.map(({ query, relevant }) =>
          toMeasures(
            answer(query, tuning).map(({ id }) => id),
            relevant,
          ),
        );
        const means = toMeans(measured);
        return [
          name,
          label,
          variant,
          String(list.length),
          ...MEASURES.map(key => means[key].toFixed(3)),
        ];
      };
      return [toRow('said another way', requests), toRow('as in the corpus', originals)];
    }),
  );
  const headings = ['slice', 'requests', 'ranking', 'n', 'recall@1', 'recall@5', 'recall@10'];
  return toTable([...headings, 'nDCG@10', 'MRR'], rows);
}
