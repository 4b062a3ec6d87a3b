/** The figures of the documents, with their targets and measurements. */
import * as measures from './measures.ts';
import type { Stand } from './stand.ts';

/** One figure of a document. */
export interface DocumentNumber {
  readonly id: string;
  readonly says: string;
  /** The target as it is shown. */
  readonly wanted: string;
  readonly unit: string;
  isMet(value: number): boolean;
  measure(stand: Stand): Promise<number>;
  /**
   * `alone`: one after the other; `beside`: at the same time as others, since it mostly waits; `model`: like `alone`, at the gateway with a
   * model.
   */
  readonly how: 'alone' | 'beside' | 'model';
}

const below = (limit: number) => (value: number) => value < limit;
const atLeast = (limit: number) => (value: number) => value >= limit;
/** Not earlier, apart from rounding, and at most half as late again, since a busy machine is late. */
const about = (wanted: number) => (value: number) => value >= wanted * 0.95 && value < wanted * 1.5;

type Row = readonly [
  says: string,
  wanted: string,
  unit: string,
  isMet: DocumentNumber['isMet'],
  measure: DocumentNumber['measure'],
  how?: DocumentNumber['how'],
];

const ROWS: readonly Row[] = [
  ['a registration, the slowest of 10', '< 2,000 ms', 'ms', below(2_000), measures.registration],
  [
    'a search of 10 servers with 100 tools each, 95th percentile of 100',
    '< 150 ms',
    'ms',
    below(150),
    measures.searchSmall,
  ],
  ['what is added to a call, median of 100', '< 50 ms', 'ms', below(50), measures.overhead],
  ['calls in a second, 16 clients', '≥ 100', 'calls/s', atLeast(100), measures.throughput],
  ['calls at the same time that are right, of 50', '50', 'calls', atLeast(50), measures.atOnce],
  ['discovery of a server with 1,000 tools', '< 5,000 ms', 'ms', below(5_000), measures.discovery],
  ['connected servers that answer', '≥ 20', 'servers', atLeast(20), measures.connected],
  [
    'a search of all tools, 95th percentile of 100',
    '< 150 ms',
    'ms',
    below(150),
    measures.searchLarge,
  ],
  ['tools that are searched', '≥ 10,000', 'tools', atLeast(10_000), measures.allTools],
  [
    'time between two health checks, mean of 10 idle servers',
    '30 s',
    's',
    about(30),
    measures.interval,
    'beside',
  ],
  ['a health check that is not answered', '5 s', 's', about(5), measures.checkTimeout, 'beside'],
  [
    'failed checks in a row until ERROR',
    '3',
    'checks',
    value => value === 3,
    measures.failuresToError,
    'beside',
  ],
  ['a call that is not answered', '30 s', 's', about(30), measures.callTimeout, 'beside'],
  [
    'servers that are back after a restart',
    '> 95 %',
    '%',
    value => value > 95,
    measures.reconnects,
    'beside',
  ],
  [
    'one tool sorted by a model, from its registration on',
    '< 3 s',
    's',
    below(3),
    measures.sortOne,
    'model',
  ],
  ['60 tools sorted by a model', '< 60 s', 's', below(60), measures.sortMany, 'model'],
  [
    'tools of public servers that are classified without a model',
    '> 95 %',
    '%',
    value => value > 95,
    measures.classified,
  ],
];

/** In display order. */
export const NUMBERS: readonly DocumentNumber[] = ROWS.map(
  ([says, wanted, unit, isMet, measure, how = 'alone'], index) => ({
    id: `N${index + 1}`,
    says,
    wanted,
    unit,
    isMet,
    measure,
    how,
  }),
);

/** Measures all figures; returns values by id. @param model a stand whose gateway has a model */
export async function measureAll(
  stand: Stand,
  model: Stand,
  say: (line: string) => void = () => {},
): Promise<Map<string, number>> {
  const values = new Map<string, number>();
  const measure = async ({ id, says, unit, measure: act, how }: DocumentNumber) => {
    say(`measuring: ${says}`);
    const value = await act(how === 'model' ? model : stand);
    values.set(id, value);
    say(`  ${says}: ${value.toFixed(1)} ${unit}`);
  };
  const of = (wanted: DocumentNumber['how']) => NUMBERS.filter(({ how }) => how === wanted);
  const oneByOne = async (numbers: readonly DocumentNumber[]) => {
    for (const number of numbers) await measure(number);
  };
  await oneByOne([...of('alone'), ...of('model')]);
  await Promise.all(of('beside').map(measure));
  return values;
}
