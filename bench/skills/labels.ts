/**
 * The labelled tools of the corpus, each with the ids of its skills, and split by server, so that no server is on both sides of a split.
 * Labels were made by an LLM, one set per server; `Others` is not a skill, and tools without another label are left out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClassifiedTool } from '../../src/search/skills/features.ts';
import type { Skill } from './taxonomy.ts';

export interface Labelled {
  tool: ClassifiedTool['tool'];
  /** What is known of its server: only its name, or also its description. */
  server: { short: ClassifiedTool['server']; whole: ClassifiedTool['server'] };
  /** Key for grouping: its server. */
  group: string;
  /** Ids of its skills, the best fitting first. */
  labels: readonly string[];
}

interface Row {
  server: string;
  serverTitle: string;
  serverDescription: string;
  name: string;
  description: string;
  params: string[];
  labels: string[];
}

/** @param folder the folder of the corpus */
export function readLabelled(folder: string, taxonomy: readonly Skill[]): Labelled[] {
  const ids = new Map(taxonomy.map(({ id, name }) => [name, id]));
  const lines = readFileSync(join(folder, 'retrieval/skill-labels.jsonl'), 'utf8').trimEnd();
  return lines.split('\n').flatMap(line => {
    const row = JSON.parse(line) as Row;
    const labels = row.labels.flatMap(label => ids.get(label) ?? []);
    if (labels.length === 0) return [];
    const tool = {
      name: row.name,
      description: row.description,
      parameters: row.params.map(name => ({ name })),
      readOnly: false,
    };
    const server = {
      short: { name: row.server, description: '' },
      whole: { name: row.serverTitle, description: row.serverDescription },
    };
    return [{ tool, server, group: row.server, labels }];
  });
}

/** Returns the fold of each sample, by its group; equal for the same seed. */
export function toFolds(samples: readonly Labelled[], folds: number, seed: number): number[] {
  const groups = [...new Set(samples.map(({ group }) => group))].toSorted();
  const random = toRandom(seed);
  const order = groups.map(group => [random(), group] as const).toSorted(([a], [b]) => a - b);
  const foldOf = new Map(order.map(([, group], i) => [group, i % folds]));
  return samples.map(({ group }) => foldOf.get(group) ?? 0);
}

/** Uniform in [0, 1) (mulberry32). */
export function toRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
