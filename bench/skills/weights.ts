/**
 * The shipped weights: trained on all labelled tools and on the examples of the taxonomy, calibrated by five folds in which nothing is
 * judged by a model trained on it. Two skills are missing in the labels; tools get them by their names.
 */
import type { Calibration, Calibrations, WeightsHead } from '../../src/search/skills/weights.ts';
import { toExamples } from './examples.ts';
import type { Labelled } from './labels.ts';
import { prepare, type Material, type View } from './prepare.ts';
import { train, type Trained } from './train.ts';
import { toCourse, tryFolds } from './trials.ts';

/** Patterns of tool and server names that belong to the skills without labels. */
const NAMED: Record<string, { tool: RegExp; server?: RegExp }> = {
  issue_tracking: { tool: /issue|ticket|bug|jira|epic|backlog/i },
  code_management: {
    tool: /repo|pull_?request|merge_?request|commit|branch|(^|_)git(_|$|hub|lab)|fork/i,
    server: /github|gitlab|bitbucket|gitee|gitea/i,
  },
};
/** Labels that are less specific than those. */
const VAGUE = ['development_tools', 'api_integration'];

export function trainWeights(material: Material): Trained & { head: WeightsHead } {
  const { taxonomy, embedding, samples } = material;
  const named = samples.map(sample => ({
    ...sample,
    labels: withNamed(sample),
  }));
  const prepared = prepare({ ...material, samples: named });
  const count = taxonomy.length;
  const { shares, offsets, trained, nearness } = toCourse(tryFolds(material, prepared, 1), count);
  const head: WeightsHead = {
    skills: taxonomy.map(({ id, name }) => ({ id, name })),
    shares: shares.map(share => Math.round(share * 1e4) / 1e4),
    offsets: { described: [...offsets.whole], bare: [...offsets.short] },
    trained: toCalibrations(trained),
    nearness: toCalibrations(nearness),
  };
  return { head, ...train([...prepared, ...toExamples(material)], count, embedding.dimensions) };
}

const toCalibrations = ({ whole, short }: Record<View, Calibration>): Calibrations => ({
  described: whole,
  bare: short,
});

/** A tool's name takes precedence over its server's. */
function withNamed({ tool, server, labels }: Labelled): string[] {
  const skills = Object.entries(NAMED);
  const byTool = skills.filter(([, pattern]) => pattern.tool.test(tool.name));
  const byServer = skills.filter(([, pattern]) => pattern.server?.test(server.whole.name));
  const named = (byTool.length > 0 ? byTool : byServer).map(([id]) => id);
  if (named.length === 0) return [...labels];
  return [...named, ...labels.filter(label => !VAGUE.includes(label))];
}
