/** The summary of a conformance run: failed scenarios fail it, and a scenario that did not run is not passed. */
import { describe, expect, it } from 'vitest';
import { summarize, toSummaryText } from '../../conformance/summary.ts';
import type { Outcome } from '../../conformance/suite.ts';
import type { Section } from '../../conformance/table.ts';

const outcome = (status: Outcome['status']): Outcome => ({
  status,
  succeeded: 1,
  warnings: [],
  failures: [],
});

function section(
  outcomes: Record<string, Outcome['status']>,
  more: Partial<Section> = {},
): Section {
  const found = Object.entries(outcomes).map(([name, status]) => [name, outcome(status)] as const);
  return {
    side: 'client',
    requirements: {
      revision: '2025-11-25',
      required: { client: ['one', 'auth/two'], server: [] },
      notScored: { client: new Map([['three', 'pending']]), server: new Map() },
    },
    columns: [{ title: 'gateway', outcomes: new Map(found) }],
    only: undefined,
    ...more,
  };
}

const passes = { one: 'passed', 'auth/two': 'passed' } as const;
const columnWith = (more: Partial<Section['columns'][number]>): Partial<Section> => ({
  columns: [{ title: 'gateway', outcomes: new Map([['one', outcome('passed')]]), ...more }],
});

describe('a conformance run', () => {
  it.each<[string, Section, number, number]>([
    ['all passes', section(passes), 2, 0],
    ['one that signs in fails', section({ ...passes, 'auth/two': 'failed' }), 1, 1],
    ['what is not scored fails', section({ ...passes, three: 'failed' }), 2, 0],
    ['one is skipped', section({ ...passes, one: 'skipped' }), 1, 1],
    ['one was not run', section({ one: 'passed' }), 1, 1],
    ['one cannot be had', section({}, columnWith({ cannot: new Map([['auth/two', '']]) })), 1, 0],
    ['one is wanted besides', section({}, columnWith({ demands: ['three'] })), 1, 2],
    ['one is asked for by name', section({}, { only: 'auth/two' }), 0, 1],
  ])('[MCP-6] %s', (_what, run, passed, failed) => {
    expect(summarize([run])).toEqual({ passed, failed });
  });

  it('[MCP-6] counts in its last line', () => {
    const text = toSummaryText(summarize([section({ one: 'passed' })]));
    expect(text).toBe('conformance: 1 passed, 1 failed');
  });
});
