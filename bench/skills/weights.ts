/**
 * The weights that are shipped: trained on all labelled tools and on the examples of the taxonomy, calibrated by five folds in which nothing is
 * judged by what it was trained on. Two skills are missing among the labels; tools get them by what their names say.
 */
import { toFeatures } from '../../src/search/skills/features.ts';
import { toSkillVector } from '../../src/search/skills/skill-vectors.ts';
import type { Calibrations, WeightsHead } from '../../src/search/skills/weights.ts';
import { toFolds, type Labelled } from './labels.ts';
import { prepare, type Material, type View } from './prepare.ts';
import type { Skill } from './taxonomy.ts';
import { calibrate, scoreOf, train, type Sample, type Trained } from './train.ts';
import { FOLDS, nearnessOf } from './trials.ts';

/** What the names of tools, or of their servers, say that belong to the skills nobody labelled. */
const NAMED: Record<string, { tool: RegExp; server?: RegExp }> = {
  issue_tracking: { tool: /issue|ticket|bug|jira|epic|backlog/i },
  code_management: {
    tool: /repo|pull_?request|merge_?request|commit|branch|(^|_)git(_|$|hub|lab)|fork/i,
    server: /github|gitlab|bitbucket|gitee|gitea/i,
  },
};
/** Labels that say less than those. */
const VAGUE = ['development_tools', 'api_integration'];
/** How often each example counts. */
const EXAMPLE_TIMES = 3;

export function trainWeights(material: Material): Trained & { head: WeightsHead } {
  const { taxonomy, embedding, samples } = material;
  const named = samples.map(sample => ({
    ...sample,
    labels: withNamed(sample),
  }));
  const prepared = prepare({ ...material, samples: named });
  const examples = toExamples(material);
  const count = taxonomy.length;
  const vectors = taxonomy.map(skill => toSkillVector(skill, [], embedding));
  const folds = toFolds(named, FOLDS, 1);
  const trained: Pairs = { whole: [], short: [] };
  const near: Pairs = { whole: [], short: [] };
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const isTried = (i: number) => folds[Math.floor(i / 2)] === fold;
    const made = train(
      [...prepared.filter((_, i) => !isTried(i)), ...examples],
      count,
      embedding.dimensions,
    );
    for (const { features, labels, view } of prepared.filter((_, i) => isTried(i))) {
      scoreOf(made, features, count).forEach((score, k) =>
        trained[view].push([score, labels.includes(k)]),
      );
      nearnessOf(features, vectors).forEach((score, k) =>
        near[view].push([score, labels.includes(k)]),
      );
    }
  }
  const head: WeightsHead = {
    skills: taxonomy.map(({ id, name }) => ({ id, name })),
    trained: calibrateBoth(trained),
    nearness: calibrateBoth(near),
  };
  return { head, ...train([...prepared, ...examples], count, embedding.dimensions) };
}

/** Scores and whether they came true, by what was known of the server. */
type Pairs = Record<View, [score: number, isTrue: boolean][]>;

const calibrateBoth = ({ whole, short }: Pairs): Calibrations => ({
  described: calibrate(whole),
  bare: calibrate(short),
});

/** What a tool's name says outweighs what its server's says. */
function withNamed({ tool, server, labels }: Labelled): string[] {
  const skills = Object.entries(NAMED);
  const byTool = skills.filter(([, pattern]) => pattern.tool.test(tool.name));
  const byServer = skills.filter(([, pattern]) => pattern.server?.test(server.whole.name));
  const named = (byTool.length > 0 ? byTool : byServer).map(([id]) => id);
  if (named.length === 0) return [...labels];
  return [...named, ...labels.filter(label => !VAGUE.includes(label))];
}

/** The examples of each skill as tools of a server that nothing is known of. */
function toExamples({ taxonomy, embedding }: Material): Sample[] {
  return taxonomy.flatMap((skill: Skill, place) =>
    [skill.description, ...skill.examples].flatMap((text, i) => {
      const tool = { name: text, description: text, parameters: [], readOnly: false };
      const features = toFeatures({ tool, server: { name: '', description: '' } }, embedding);
      const sample = { features, labels: [place], group: `${skill.id} ${i}` };
      return Array.from({ length: EXAMPLE_TIMES }, () => sample);
    }),
  );
}
