/** Prepares labelled tools for the trainer: each twice, with the full description of its server, and with only the server's name. */
import type { Embedding } from '../../src/search/text/embedding.ts';
import { toFeatures } from '../../src/search/skills/features.ts';
import type { Labelled } from './labels.ts';
import type { Skill } from './taxonomy.ts';
import type { Sample } from './train.ts';

/** What is known of a tool's server. */
export const VIEWS = ['whole', 'short'] as const;
export type View = (typeof VIEWS)[number];

export interface Material {
  samples: readonly Labelled[];
  taxonomy: readonly Skill[];
  embedding: Embedding;
}

/** A sample for the trainer, in one view. */
export interface Prepared extends Sample {
  labelled: Labelled;
  view: View;
}

/** Each sample in both views, one after the other. */
export function prepare({ samples, taxonomy, embedding }: Material): Prepared[] {
  const places = new Map(taxonomy.map(({ id }, i) => [id, i]));
  return samples.flatMap(labelled =>
    VIEWS.map(view => ({
      labelled,
      view,
      features: toFeatures({ tool: labelled.tool, server: labelled.server[view] }, embedding),
      labels: labelled.labels.flatMap(id => places.get(id) ?? []),
      group: labelled.group,
    })),
  );
}
