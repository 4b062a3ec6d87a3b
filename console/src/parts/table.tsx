/**
 * A table that is scrolled within itself where it is wider than the page, by the keyboard too. On a narrow page each row is a block,
 * with the name of its column beside each cell.
 */
import type { ComponentChildren, JSX } from 'preact';

import './table.css';

interface TableProps {
  /** What it is of. */
  label: string;
  /** Of the columns, in order; a hidden one is read out only. */
  columns: readonly (string | { hidden: string })[];
  /** Rows. */
  children: ComponentChildren;
}

/** The names of the columns for the style sheet, which shows them beside cells: `--column-1`, … */
const toNames = (columns: TableProps['columns']): JSX.CSSProperties =>
  Object.fromEntries(
    columns.map((column, index) => [
      `--column-${index + 1}`,
      JSON.stringify(typeof column === 'string' ? column : ''),
    ]),
  );

export const Table = ({ label, columns, children }: TableProps) => (
  <div class="scroll" role="region" aria-label={label} tabIndex={0}>
    <table style={toNames(columns)}>
      <thead>
        <tr>
          {columns.map(column => (
            <th key={column} scope="col">
              {typeof column === 'string' ? column : <span class="hidden">{column.hidden}</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
