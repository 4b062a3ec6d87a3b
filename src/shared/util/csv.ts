/** Lines of CSV (RFC 4180) that a spreadsheet opens as text and numbers, never as formulas. Pure. */

/** How a text begins that a spreadsheet takes for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Returns one line with its line end. */
export const toCsvLine = (values: readonly (string | number | null | undefined)[]): string =>
  `${values.map(toField).join(',')}\r\n`;

function toField(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
