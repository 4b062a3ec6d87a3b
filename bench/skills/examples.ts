/** The texts of the taxonomy as samples: each as a tool of a server about which nothing is known. */
import { toFeatures } from '../../src/search/skills/features.ts';
import type { Material } from './prepare.ts';
import type { Sample } from './train.ts';

/** How often each counts. */
const TIMES = 3;

/** @returns samples of the description and examples of each skill */
export function toExamples({ taxonomy, embedding }: Material): Sample[] {
  return taxonomy.flatMap((skill, place) =>
    [skill.description, ...skill.examples].flatMap((text, i) => {
      const tool = { name: text, description: text, parameters: [], readOnly: false };
      const features = toFeatures({ tool, server: { name: '', description: '' } }, embedding);
      const sample = { features, labels: [place], group: `${skill.id} ${i}` };
      return Array.from({ length: TIMES }, () => sample);
    }),
  );
}
