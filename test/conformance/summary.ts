/**
 * What a run comes to: how many of the required scenarios passed and failed, over all columns, and which wait for something
 * that is not built. What waits is found by what it needs and by its outcome, not by a list of failures that are expected;
 * one that passes is said to. Pure.
 */
import { countedIn, outcomeOf } from './table.ts';
import type { Section } from './table.ts';

export interface Summary {
  passed: number;
  failed: number;
  /** Required scenarios that did not pass and wait, by what they wait for. */
  waiting: Map<string, string[]>;
  /** Scenarios that pass although they seemed to wait. */
  early: string[];
}

/** Counts each required scenario in each column. */
export function summarize(sections: readonly Section[]): Summary {
  const summary: Summary = { passed: 0, failed: 0, waiting: new Map(), early: [] };
  for (const section of sections) {
    const { columns, waiting, requirements, only } = section;
    for (const column of columns) {
      const demanded = only === undefined ? (column.demands ?? []) : [];
      for (const scenario of [...countedIn(section, column), ...demanded]) {
        const hasPassed = outcomeOf(column, scenario).status === 'passed';
        const reason = only === undefined ? waiting.get(scenario) : undefined;
        const name = `${scenario} (${requirements.revision})`;
        if (hasPassed) summary.passed += 1;
        if (hasPassed && reason !== undefined) summary.early.push(name);
        if (hasPassed) continue;
        if (reason === undefined) summary.failed += 1;
        else {
          const names = summary.waiting.get(reason) ?? [];
          if (!names.includes(name)) names.push(name);
          summary.waiting.set(reason, names);
        }
      }
    }
  }
  return summary;
}

/** The summary as lines; the last one is for programs. */
export function toSummaryText({ passed, failed, waiting, early }: Summary): string {
  const waits = [...waiting].map(([reason, names]) => `${reason}: ${names.join(', ')}`);
  const passes =
    early.length === 0 ? [] : [`passes, and need not wait any more: ${early.join(', ')}`];
  const count = [...waiting.values()].flat().length;
  const last = `conformance: ${passed} passed, ${failed} failed, ${count} wait`;
  return [...waits, ...passes, last].join('\n');
}
