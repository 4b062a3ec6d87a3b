/** Lines of CSV (RFC 4180) that a spreadsheet opens as text and numbers, never as formulas. Pure. */

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** One line, with its end. */
export const toCsvLine = (values: readonly (string | number | null | undefined)[]): string =>
  `${values.map(toField).join(',')}\r\n`;

function toField(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
