/** Summarises a run: how many of the required scenarios passed and failed, over all columns. Pure. */
import { countedIn, outcomeOf } from './table.ts';
import type { Section } from './table.ts';

export interface Summary {
  passed: number;
  failed: number;
}

/** Counts each required scenario in each column, and the additional scenarios that a column demands. */
export function summarize(sections: readonly Section[]): Summary {
  const summary: Summary = { passed: 0, failed: 0 };
  for (const section of sections) {
    for (const column of section.columns) {
      const demanded = section.only === undefined ? (column.demands ?? []) : [];
      for (const scenario of [...countedIn(section, column), ...demanded]) {
        const hasPassed = outcomeOf(column, scenario).status === 'passed';
        summary[hasPassed ? 'passed' : 'failed'] += 1;
      }
    }
  }
  return summary;
}

/** The summary as a line for programs. */
export const toSummaryText = ({ passed, failed }: Summary): string =>
  `conformance: ${passed} passed, ${failed} failed`;
