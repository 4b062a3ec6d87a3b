/** Rows as aligned columns of plain text. Control and invisible characters in outside text are made visible. Pure. */
import { toVisible } from '../../../src/shared/util/visible-text.ts';

const GAP = '  ';
/** Characters two columns wide in a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;
const COMBINING = /\p{M}/u;
/** If less room than this is left, the last column is not cut, and the terminal wraps it. */
const MIN_LAST = 12;

/** Makes control and invisible characters visible; line ends stay. */
export function visible(text: string): string {
  return toVisible(text, () => false);
}

/** Width of a text in terminal columns. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfOne(character);
  return width;
}

const widthOfOne = (character: string): number =>
  COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;

/** Cuts a text to a width; a cut text ends with `…`. */
export function cut(text: string, columns: number): string {
  let kept = '';
  let width = 0;
  let read = '';
  for (const character of text) {
    width += widthOfOne(character);
    if (width > columns) return `${kept}…`;
    read += character;
    if (width < columns) kept = read;
  }
  return text;
}

/** Wraps a text at spaces; longer words are broken anywhere. Returns at least one line. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  let width = 0;
  for (const word of text.split(' ')) {
    const space = line === '' ? '' : ' ';
    const wordWidth = widthOf(word);
    if (width + space.length + wordWidth <= columns) {
      line += space + word;
      width += space.length + wordWidth;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    width = 0;
    for (const character of word) {
      const one = widthOfOne(character);
      if (width + one > columns) {
        lines.push(line);
        line = '';
        width = 0;
      }
      line += character;
      width += one;
    }
  }
  return [...lines, line];
}

export interface TableLook {
  /** Terminal width for the table; undefined: unlimited. */
  columns?: number | undefined;
  /** What to do with a last column that does not fit. */
  last?: 'cut' | 'wrap';
  /** Colours the heading. */
  paint?: (text: string) => string;
}

export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, last = 'cut', paint = text => text }: TableLook = {},
): string {
  const cells = rows.map(row => row.map(text => visible(text.replaceAll(/\s+/g, ' ').trim())));
  const widths = heading.map((title, at) =>
    Math.max(widthOf(title), ...cells.map(row => widthOf(row[at] ?? ''))),
  );
  const taken = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const left = columns === undefined ? Infinity : columns - taken;
  const pad = (text: string, at: number) => text + ' '.repeat((widths[at] ?? 0) - widthOf(text));
  const toLines = (row: readonly string[]): string[] => {
    const first = row.slice(0, -1).map(pad).join(GAP);
    const text = row.at(-1) ?? '';
    const tails = left < MIN_LAST ? [text] : last === 'wrap' ? wrap(text, left) : [cut(text, left)];
    return tails.map((tail, at) => {
      const head = at === 0 ? first : ' '.repeat(widthOf(first));
      return `${head}${GAP}${tail}`.trimEnd();
    });
  };
  return [paint(toLines(heading).join('\n')), ...cells.flatMap(toLines)]
    .map(line => `${line}\n`)
    .join('');
}
