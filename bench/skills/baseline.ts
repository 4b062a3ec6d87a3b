/** The baseline for the classifier: the nearest centroid of TF-IDF vectors over the same texts. */
import type { ClassifiedTool } from '../../src/search/skills/features.ts';
import { toTerms } from '../../src/search/text/terms.ts';

type Vector = Map<string, number>;

const textOf = ({ tool, server }: ClassifiedTool): string =>
  [
    tool.name,
    tool.description ?? '',
    ...tool.parameters.map(({ name }) => name),
    server.name,
    server.description,
  ].join(' ');

/** @returns a function that scores a tool for each of `count` classes */
export function trainBaseline(
  tools: readonly ClassifiedTool[],
  labels: readonly (readonly number[])[],
  count: number,
): (tool: ClassifiedTool) => number[] {
  const documents = tools.map(tool => countsOf(textOf(tool)));
  const frequency = new Map<string, number>();
  for (const document of documents) {
    for (const term of document.keys()) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  }
  const toVector = (counts: Vector): Vector => {
    const weighed = [...counts].map(([term, times]): [string, number] => {
      const rarity = Math.log((1 + documents.length) / (1 + (frequency.get(term) ?? 0))) + 1;
      return [term, (1 + Math.log(times)) * rarity];
    });
    const length = Math.hypot(...weighed.map(([, weight]) => weight)) || 1;
    return new Map(weighed.map(([term, weight]) => [term, weight / length]));
  };
  const centroids = Array.from({ length: count }, (): Vector => new Map());
  documents.forEach((document, i) => {
    for (const [term, weight] of toVector(document)) {
      for (const label of labels[i] ?? []) {
        const centroid = centroids[label];
        centroid?.set(term, (centroid.get(term) ?? 0) + weight);
      }
    }
  });
  const lengths = centroids.map(centroid => Math.hypot(...centroid.values()) || 1);
  return tool => {
    const vector = toVector(countsOf(textOf(tool)));
    return centroids.map((centroid, k) => {
      let sum = 0;
      for (const [term, weight] of vector) sum += weight * (centroid.get(term) ?? 0);
      return sum / (lengths[k] ?? 1);
    });
  };
}

function countsOf(text: string): Vector {
  const counts: Vector = new Map();
  for (const term of toTerms(text, 5_000)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
