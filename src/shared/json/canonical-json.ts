/**
 * The canonical form of a JSON text: two texts have the same form exactly if they mean the same, whatever the order of keys, white space,
 * escapes and notation of numbers. It follows RFC 8785 without that RFC's losses: a number keeps every digit, since clients may read more
 * than a double holds, and equal keys of one object all stay, in their order, since readers differ in which one they take.
 *
 * Invariants: `JSON.parse` has accepted the text. Values nested deeper than `MAX_DEPTH` stay as written, so such a value can look changed
 * when it is not, never the reverse. The result is for comparison, not for parsing.
 */
import { skipSpace, skipString, skipValue } from './json-spans.ts';
import { withoutEnd } from '../util/without-end.ts';

const MAX_DEPTH = 100;
/** Longest exponent that is read as a number, in characters. */
const MAX_EXPONENT_CHARS = 15;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

export function canonicalJson(text: string): string {
  return readValue(text, skipSpace(text, 0), 0).form;
}

/** A value's canonical form, and the index after its text. */
interface Read {
  form: string;
  end: number;
}

function readValue(text: string, at: number, depth: number): Read {
  const first = text[at];
  if (first === '"') {
    const end = skipString(text, at);
    return { form: canonicalString(text.slice(at, end)), end };
  }
  const isNested = first === '{' || first === '[';
  if (isNested && depth < MAX_DEPTH) {
    return first === '{' ? readObject(text, at, depth) : readArray(text, at, depth);
  }
  const end = skipValue(text, at);
  const raw = text.slice(at, end);
  return { form: isNested ? raw : canonicalScalar(raw), end };
}

function readObject(text: string, at: number, depth: number): Read {
  const members: { key: string; form: string }[] = [];
  let i = skipSpace(text, at + 1);
  while (text[i] !== '}') {
    const keyEnd = skipString(text, i);
    const key = JSON.parse(text.slice(i, keyEnd)) as string;
    // A colon follows the key.
    const value = readValue(text, skipSpace(text, skipSpace(text, keyEnd) + 1), depth + 1);
    members.push({ key, form: value.form });
    i = skipComma(text, value.end);
  }
  members.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
  const form = members.map(({ key, form: value }) => `${JSON.stringify(key)}:${value}`).join(',');
  return { form: `{${form}}`, end: i + 1 };
}

function readArray(text: string, at: number, depth: number): Read {
  const elements: string[] = [];
  let i = skipSpace(text, at + 1);
  while (text[i] !== ']') {
    const { form, end } = readValue(text, i, depth + 1);
    elements.push(form);
    i = skipComma(text, end);
  }
  return { form: `[${elements.join(',')}]`, end: i + 1 };
}

function skipComma(text: string, at: number): number {
  const i = skipSpace(text, at);
  return text[i] === ',' ? skipSpace(text, i + 1) : i;
}

/** A string without escapes is already canonical. */
function canonicalString(raw: string): string {
  const isPlain = !raw.includes('\\') && raw.isWellFormed();
  return isPlain ? raw : JSON.stringify(JSON.parse(raw));
}

function canonicalScalar(raw: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(raw) ?? [];
  if (sign === undefined || whole === undefined || exponent.length > MAX_EXPONENT_CHARS) return raw;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = withoutEnd(digits, '0');
  if (significant === '') return `${sign}0`;
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return power === 0 ? `${sign}${significant}` : `${sign}${significant}e${power}`;
}
