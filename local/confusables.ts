/**
 * Generates `src/servers/approvals/confusables.ts` from Unicode's own data: `node local/run.mjs local/confusables.ts confusables.txt`, with
 * the file of UTS #39 (https://www.unicode.org/Public/security/latest/confusables.txt). Pairs that compatibility decomposition already
 * covers are left out, and so are characters that only decorate or separate, since a skeleton has none of them
 * (`src/servers/approvals/skeleton.ts`).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OUTPUT = fileURLToPath(new URL('../src/servers/approvals/confusables.ts', import.meta.url));
const WIDTH = 150;
/** Characters that a skeleton leaves out. */
const LEFT_OUT = /[\p{M}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const IS_SAID = /[\p{L}\p{N}]/u;

const fromHex = (codes: string): string =>
  String.fromCodePoint(
    ...codes
      .trim()
      .split(' ')
      .map(code => Number.parseInt(code, 16)),
  );
const toNumber = (text: string): string => (text.codePointAt(0) ?? 0).toString(36);

const decompose = (text: string): string => text.normalize('NFKD').replaceAll(LEFT_OUT, '');

/** Reads pairs of a character and what it looks like. */
function readPairs(text: string): [character: string, plain: string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const [source, prototype] = line.replace(/#.*/u, '').split(';');
    if (!source || !prototype || !/^[\dA-F]+\s*$/u.test(source)) return [];
    const plain = decompose(fromHex(prototype));
    const character = fromHex(source);
    return IS_SAID.test(plain) || IS_SAID.test(character) ? [[character, plain]] : [];
  });
}

/** Groups characters by the prototype they look like, without those that decomposition already maps to it. */
function toTable(pairs: readonly [character: string, plain: string][]): Map<string, number[]> {
  const known = new Map(pairs.filter(([character]) => decompose(character) === character));
  const look = (part: string) => Array.from(part, one => known.get(one) ?? one).join('');
  const table = new Map<string, number[]>();
  for (const [character, plain] of pairs) {
    const isSaid = !known.has(character) && look(decompose(character)) === look(plain);
    if (isSaid || character === plain) continue;
    table.set(plain, [...(table.get(plain) ?? []), character.codePointAt(0) ?? 0]);
  }
  return table;
}

/** Formats one prototype as a line: its code points, then the differences between the code points that look like it, in base 36. */
function toLine([plain, codes]: [string, number[]]): string {
  let last = 0;
  const steps = codes
    .toSorted((one, other) => one - other)
    .map(code => {
      const step = code - last;
      last = code;
      return step.toString(36);
    });
  return `${[...plain].map(toNumber).join('+')}:${steps.join(',')}`;
}

function wrap(lines: readonly string[]): string {
  const rows = [''];
  for (const line of lines) {
    const row = rows.at(-1) ?? '';
    if (row !== '' && row.length + line.length > WIDTH) rows.push(`${line};`);
    else rows[rows.length - 1] = `${row}${line};`;
  }
  return rows.join('\n');
}

const [file = ''] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');
const version = /^# Version: (.+)$/mu.exec(text)?.[1] ?? '';
if (version === '') throw new Error(`${file} is not Unicode's confusables.txt`);
const lines = [...toTable(readPairs(text))].map(toLine).toSorted();
const header = `/**
 * Characters that look like others, of Unicode ${version} (UTS #39, confusables.txt), made by \`local/confusables.ts\`. For each
 * prototype its code points, a colon and the differences between those that look like it, all in base 36. Its licence is beside it
 * (\`confusables.LICENSE.txt\`).
 */
`;
writeFileSync(OUTPUT, `${header}export const CONFUSABLES = \`${wrap(lines)}\`;\n`);
console.log(`${lines.length} prototypes of Unicode ${version} in ${OUTPUT}`);
