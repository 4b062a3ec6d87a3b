/** What a conformance run comes to: what failed fails it, what waits does not, and nothing is passed by not being run. */
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
    waiting: new Map([['auth/two', 'needs OAuth']]),
    only: undefined,
    ...more,
  };
}

describe('a conformance run', () => {
  it.each<[string, Section, number, number, number]>([
    ['all that is built passes', section({ one: 'passed' }), 1, 0, 1],
    ['what waits was tried', section({ one: 'passed', 'auth/two': 'failed' }), 1, 0, 1],
    ['what waits passes', section({ one: 'passed', 'auth/two': 'passed' }), 2, 0, 0],
    ['what is not scored fails', section({ one: 'passed', three: 'failed' }), 1, 0, 1],
    ['one fails', section({ one: 'failed' }), 0, 1, 1],
    ['one is skipped', section({ one: 'skipped' }), 0, 1, 1],
    ['one was not run', section({}), 0, 1, 1],
    ['what waits is asked for by name', section({}, { only: 'auth/two' }), 0, 1, 0],
  ])('%s', (_what, run, passed, failed, waiting) => {
    const summary = summarize([run]);
    const count = [...summary.waiting.values()].flat().length;
    expect([summary.passed, summary.failed, count]).toEqual([passed, failed, waiting]);
  });

  it('[MCP-6] names what waits and what need not, and counts in its last line', () => {
    const waits = toSummaryText(summarize([section({ one: 'passed' })]));
    expect(waits).toBe(
      'needs OAuth: auth/two (2025-11-25)\nconformance: 1 passed, 0 failed, 1 wait',
    );
    const early = toSummaryText(summarize([section({ one: 'failed', 'auth/two': 'passed' })]));
    expect(early).toBe(
      'passes, and need not wait any more: auth/two (2025-11-25)\nconformance: 1 passed, 1 failed, 0 wait',
    );
  });
});
