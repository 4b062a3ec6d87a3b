/** Usage as a table; a row links to its own calls. */
import { Link } from 'wouter-preact';
import type { UsageBy } from '../../api/usage.ts';
import type { Usage } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Table } from '../../parts/table.tsx';
import { BY, toNamed, type Named } from './search.ts';

interface TableProps {
  by: UsageBy;
  rows: readonly Usage[];
  seesAll: boolean;
  /** Address that a row links to. */
  toAddress: (narrow: NonNullable<Named['narrow']>) => string;
}

const COLUMNS = ['Calls', 'Failed', 'Refused', 'Half took', '95 % took', 'Sent', 'Got'];

export function UsageTable({ by, rows, seesAll, toAddress }: TableProps) {
  const word = BY.find(([each]) => each === by)?.[1] ?? '';
  return (
    <Table label="Usage" columns={[word, ...COLUMNS]}>
      {rows.map(row => {
        const named = toNamed(by, row, seesAll);
        return (
          <tr key={`${named.text} ${row.action} ${row.server} ${row.principal}`}>
            <th scope="row">
              {named.narrow ? (
                <Link href={toAddress(named.narrow)}>
                  <Foreign text={named.text} max={200} />
                </Link>
              ) : (
                <Foreign text={named.text} max={200} />
              )}
            </th>
            <td class="number">{row.calls.toLocaleString('en')}</td>
            <td class="number">{row.errors.toLocaleString('en')}</td>
            <td class="number">{row.denied.toLocaleString('en')}</td>
            <td class="number">{toDuration(row.p50_ms)}</td>
            <td class="number">{toDuration(row.p95_ms)}</td>
            <td class="number">{toSize(row.argument_chars)}</td>
            <td class="number">{toSize(row.result_chars)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Durations are counted in ranges, so a quantile is the upper end of one. */
function toDuration(ms: number | null): string {
  if (ms === null) return '';
  return ms < 1000 ? `≤ ${ms} ms` : `≤ ${Number((ms / 1000).toPrecision(3))} s`;
}

const sizes = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const toSize = (chars: number) => `${sizes.format(chars)} chars`;
