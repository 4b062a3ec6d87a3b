/** Rows of texts as an aligned Markdown table; all but the first column are right-aligned. */

/** @param rows each with as many cells as headings */
export function toTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, 3, ...rows.map(row => row[column]?.length ?? 0)),
  );
  const toLine = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, i) =>
    i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [toLine(headings), toLine(rule), ...rows.map(toLine)].join('\n');
}
