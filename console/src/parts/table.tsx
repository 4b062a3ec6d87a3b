/**
 * A table that scrolls on its own if it is wider than the page, also by keyboard. On a narrow page each row is a block, with the column's
 * name beside each cell.
 */
import type { ComponentChildren, JSX } from 'preact';

import './table.css';

interface TableProps {
  /** Accessible name. */
  label: string;
  /** Column headings in order; a hidden one is only for screen readers. */
  columns: readonly (string | { hidden: string })[];
  /** The rows. */
  children: ComponentChildren;
}

/** Passes the column names to the style sheet, which shows them beside cells: `--column-1`, … */
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
