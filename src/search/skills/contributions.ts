/** Sums up what one server's tools contribute to the vectors of skills. Pure. */
import type { Embedding } from '../text/embedding.ts';
import type { Assignment } from './assignment-store.ts';
import type { Question } from './classifier.ts';
import type { Contribution } from './member-store.ts';
import { addTo } from './skill-vectors.ts';

/** @param assignments of the server's current tools; a tool counts in each of its skills, weighted by the confidence */
export function toContributions(
  questions: readonly Question[],
  assignments: ReadonlyMap<string, Assignment>,
  embedding: Embedding,
): Contribution[] {
  const bySkill = new Map<string, Contribution>();
  const empty = () => ({ members: 0, total: new Float32Array(embedding.dimensions) });
  for (const { name, tool } of questions) {
    const assignment = assignments.get(name);
    if (!assignment || assignment.skills.length === 0) continue;
    const vector = embedding.embed(`${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`);
    for (const { id, confidence } of assignment.skills) {
      let contribution = bySkill.get(id);
      if (!contribution) {
        bySkill.set(id, (contribution = { skillId: id, all: empty(), byHand: empty() }));
      }
      const totals =
        assignment.source === 'hand' ? [contribution.all, contribution.byHand] : [contribution.all];
      for (const each of totals) {
        each.members += 1;
        addTo(each.total, vector, confidence);
      }
    }
  }
  return [...bySkill.values()].toSorted((a, b) => (a.skillId < b.skillId ? -1 : 1));
}
