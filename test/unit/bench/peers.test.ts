/** The pure parts of the benchmark of gateways: statistics over rounds, the report, the command line. */
import { describe, expect, it } from 'vitest';
import { features } from '../../../bench/peers/features.ts';
import type { Fidelity, Outcome } from '../../../bench/peers/fidelity.ts';
import { parsePeerOptions, toHelp } from '../../../bench/peers/options.ts';
import { toReport, toTable, type Findings } from '../../../bench/peers/report.ts';
import { toSpeed } from '../../../bench/peers/speed.ts';
import { median } from '../../../bench/statistics.ts';

const NAMES = ['Portico', 'mcp-hub'];
const allAre = (outcome: Outcome, reasons: string[] = []): Fidelity => ({
  outcomes: features.map(() => outcome),
  reasons,
});

describe('the benchmark of gateways', () => {
  it('covers eighteen features, each under its own name', () => {
    expect(new Set(features.map(({ name }) => name)).size).toBe(18);
  });

  it('computes the median of values', () => {
    expect([median([9, 1, 5]), median([4, 1, 3, 2]), median([])]).toEqual([5, 2.5, Number.NaN]);
  });

  it('divides by the upstream of the same round before it takes the median', () => {
    const slice = (p50Ms: number, perSecond: number) => ({ p50Ms, p95Ms: p50Ms * 2, perSecond });
    const own = [slice(2, 100), slice(40, 10), slice(6, 50)];
    const direct = [slice(1, 200), slice(10, 40), slice(2, 100)];
    expect(toSpeed('one', 16, own, direct)).toEqual({
      name: 'one',
      clients: 16,
      p50Ms: 6,
      p95Ms: 12,
      perSecond: 50,
      times: 3,
      share: 0.5,
    });
  });

  it('escapes a bar in a table cell', () => {
    expect(toTable(['a', 'b'], [['x|y', '1']])).toBe('| a | b |\n| --- | ---: |\n| x\\|y | 1 |');
  });

  it('reports for both eras what works, and why something does not', () => {
    const findings: Findings = {
      circumstances: {
        date: '2026-11-25',
        cores: 2,
        processor: 'some',
        memoryGiB: 24,
        node: 'v24',
        loadBefore: 0.5,
        minutes: 9,
        rounds: 5,
        sliceMs: 600,
      },
      gateways: [],
      fidelity: [
        { name: 'direct', legacy: allAre('works'), modern: allAre('works') },
        { name: 'other', legacy: allAre('works'), modern: allAre('lost', ['progress: gone']) },
      ],
      speeds: [],
      memory: [],
      recoveries: [{ name: 'other', recovery: undefined }],
      lists: [{ name: 'other', tools: 10_000, tokens: 1_234_567, tookMs: 250 }],
      failures: ['other: did not start'],
    };
    const report = toReport(findings);
    expect(report).toContain('| prompts | works | works / lost |');
    expect(report).toContain('| works, of 18 | 18 / 18 | 18 / 0 |');
    expect(report).toContain('- other, modern: progress: gone');
    expect(report).toContain('| other | — | — | runs its upstream itself |');
    expect(report).toContain('| other | 10,000 | 1,234,567 | 250 ms |');
    expect(report).toContain('- other: did not start');
  });

  it('accepts names of gateways, and refuses others with one line', () => {
    expect(parsePeerOptions(['--only', 'mcp-hub, Portico', '--quick'], NAMES)).toMatchObject({
      only: ['mcp-hub', 'Portico'],
      tools: 1_000,
    });
    expect(parsePeerOptions([], NAMES)).toMatchObject({ only: undefined, tools: 10_000 });
    expect(() => parsePeerOptions(['--only', 'hub'], NAMES)).toThrow(
      '--only: there is no gateway "hub"; there are Portico, mcp-hub',
    );
    expect(parsePeerOptions(['--help'], NAMES)).toBeUndefined();
    expect(toHelp(NAMES)).toContain('Portico, mcp-hub');
  });
});
