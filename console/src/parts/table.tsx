/** A table that is scrolled within itself where it is wider than the page, by the keyboard too. */
import type { ComponentChildren } from 'preact';

interface TableProps {
  /** What it is of. */
  label: string;
  /** Of the columns, in order; a hidden one is read out only. */
  columns: readonly (string | { hidden: string })[];
  /** Rows. */
  children: ComponentChildren;
}

export const Table = ({ label, columns, children }: TableProps) => (
  <div class="scroll" role="region" aria-label={label} tabIndex={0}>
    <table>
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
