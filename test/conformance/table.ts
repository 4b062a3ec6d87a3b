/**
 * A run as text: a table for each side and revision with one column per tested target, the counts, and the reason of each failure. The same
 * text is printed and written to docs/conformance.md. Pure.
 */
import type { Requirements, Side } from './requirements.ts';
import { NOT_RUN } from './suite.ts';
import type { Outcome } from './suite.ts';

export interface Column {
  title: string;
  outcomes: ReadonlyMap<string, Outcome>;
  /** Scenarios that require what this column cannot have by the specification, with the reason. They are run, not counted. */
  cannot?: ReadonlyMap<string, string>;
  /** Scenarios that the suite does not score but that must pass here. */
  demands?: readonly string[];
}

export interface Section {
  side: Side;
  /** Which endpoint, if it is not a server's own. */
  where?: string;
  requirements: Requirements;
  columns: Column[];
  /** The scenario to run; undefined for all that the revision names. */
  only: string | undefined;
}

const MARKS: Record<Outcome['status'], string> = {
  passed: 'pass',
  failed: 'FAIL',
  skipped: 'skipped',
  'not run': 'NOT RUN',
};

/** The outcome of a scenario in a column. */
export const outcomeOf = (column: Column, scenario: string): Outcome =>
  column.outcomes.get(scenario) ?? NOT_RUN;

/** The scenarios of a section that count; a scenario requested by name always counts. */
function requiredOf({ side, requirements, only }: Section): string[] {
  return only === undefined ? requirements.required[side] : [only];
}

function notScoredOf({ side, requirements, only }: Section): string[] {
  return only === undefined ? [...requirements.notScored[side].keys()] : [];
}

/** The scenarios of a section that count in a column. */
export function countedIn(section: Section, column: Column): string[] {
  return requiredOf(section).filter(name => !column.cannot?.has(name));
}

/** Counts how many of the required scenarios passed in a column. */
function count(section: Section, column: Column): string {
  const required = countedIn(section, column);
  const passed = required.filter(name => outcomeOf(column, name).status === 'passed');
  return `${passed.length}/${required.length}`;
}

function mark(column: Column, scenario: string): string {
  const { status, warnings } = outcomeOf(column, scenario);
  if (status !== 'passed' && column.cannot?.has(scenario)) return 'n/a';
  return warnings.length > 0 ? `${MARKS[status]} (${warnings.length} warned)` : MARKS[status];
}

/** Formats rows of cells as a Markdown table that is also aligned for a terminal. */
function toTable(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map(row => row[at]?.length ?? 0)));
  const lines = rows.map(row => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | '));
  const rule = widths.map(width => '-'.repeat(width)).join(' | ');
  return [lines[0] ?? '', rule, ...lines.slice(1)].map(line => `| ${line} |`).join('\n');
}

function failuresOf(section: Section): string[] {
  const { columns } = section;
  const all = [...requiredOf(section), ...notScoredOf(section)];
  const failures = all.flatMap(scenario =>
    columns
      .filter(({ cannot }) => !cannot?.has(scenario))
      .flatMap(column =>
        outcomeOf(column, scenario).failures.map(
          failure => `- ${scenario}, ${column.title}: ${failure}`,
        ),
      ),
  );
  return [...columns.flatMap(column => impossibleIn(column, all)), ...failures];
}

/** What a column cannot have, one line per reason. */
function impossibleIn({ title, cannot }: Column, all: readonly string[]): string[] {
  const named = [...(cannot ?? [])].filter(([name]) => all.includes(name));
  const reasons = new Set(named.map(([, reason]) => reason));
  return [...reasons].map(reason => {
    const names = named.filter(each => each[1] === reason).map(([name]) => name);
    return `- ${names.join(', ')}, ${title}: n/a, ${reason}`;
  });
}

/** Formats a section as Markdown. */
export function toSectionText(section: Section): string {
  const { side, requirements, columns } = section;
  const role = side === 'server' ? 'The gateway as a server' : 'The gateway as a client';
  const row = (scenario: string, note: string) => [
    note === '' ? scenario : `${scenario} (not scored: ${note})`,
    ...columns.map(column => mark(column, scenario)),
  ];
  const rows = [
    ['scenario', ...columns.map(column => column.title)],
    ...requiredOf(section).map(scenario => row(scenario, '')),
    ['**required and passed**', ...columns.map(column => count(section, column))],
    ...notScoredOf(section).map(name => row(name, requirements.notScored[side].get(name) ?? '')),
  ];
  const failures = failuresOf(section);
  const why = failures.length === 0 ? '' : `\n\nWhat failed:\n\n${failures.join('\n')}`;
  const title = [role, requirements.revision, section.where].filter(Boolean).join(', ');
  return `## ${title}\n\n${toTable(rows)}${why}\n`;
}
