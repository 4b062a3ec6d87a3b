/** Tool definitions for tests of approvals: complete ones, mutations of one field, and equivalent spellings. */
import type { Random } from '../seeded.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const TEXTS = ['a', 'Sends an e-mail', 'naïve', '日本語', 'a\n"b"\\', '\u200b', '😀', ''];

/** A definition with every member of the protocol, and unknown ones. */
export function createDefinition(random: Random): { [key: string]: Json } {
  const text = () => `${random.pick(TEXTS)} ${random.below(1_000)}`;
  return {
    name: `tool_${random.below(1_000)}`,
    title: text(),
    description: text(),
    inputSchema: {
      type: 'object',
      properties: {
        to: { type: 'string', description: text(), enum: [text(), text()] },
        count: { type: 'integer', minimum: random.below(10), maximum: 12.5, default: null },
        nested: { type: 'object', properties: { deep: { type: 'array', items: [{}, true] } } },
      },
      required: ['to'],
    },
    outputSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
    annotations: { title: text(), readOnlyHint: random.chance(0.5), openWorldHint: true },
    icons: [{ src: 'https://example.com/a.png', mimeType: 'image/png', sizes: ['48x48'] }],
    execution: { taskSupport: 'optional' },
    _meta: { 'example.com/a': { b: [1, 2, { c: text() }] } },
    vendor: text(),
  };
}

/** Every place in a value, as the path of keys to it. */
export function placesOf(value: Json, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return [path];
  const inner = Object.entries(value).flatMap(([key, part]) => placesOf(part, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

const OTHER: Json[] = [null, true, false, 0, 1, 'x', '\u200b', [], {}, [null], { a: 1 }];

/** A copy with another value, another key or nothing at one place. */
export function mutate(definition: { [key: string]: Json }, random: Random) {
  const copy = structuredClone(definition);
  const path = random.pick(placesOf(copy));
  const key = path.at(-1) ?? '';
  const parent = path
    .slice(0, -1)
    .reduce<Json>((at, step) => (at as { [key: string]: Json })[step] ?? null, copy);
  const holder = parent as { [key: string]: Json };
  const before = holder[key] ?? null;
  const kind = random.below(4);
  if (kind === 0 && !Array.isArray(parent)) {
    delete holder[key];
  } else if (kind === 1 && !Array.isArray(parent)) {
    holder[`${key}${random.pick(['_', '\u200b', ' '])}`] = before;
    delete holder[key];
  } else if (kind === 2 && typeof before === 'string') {
    holder[key] = `${before}${random.pick(['.', ' ', '\u200b', '\u0301', '\n'])}`;
  } else {
    const others = OTHER.filter(other => JSON.stringify(other) !== JSON.stringify(before));
    holder[key] = random.pick(others);
  }
  return { path, definition: copy };
}

const SPACES = ['', '', ' ', '\n', '\t', '\r\n  '];

/** The same value written differently: order of keys, white space, escapes, notation of numbers. */
export function rewrite(value: Json, random: Random): string {
  const space = () => random.pick(SPACES);
  if (typeof value === 'string') return writeString(value, random);
  if (typeof value === 'number') return writeNumber(value, random);
  if (value === null || typeof value === 'boolean') return String(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map(part => rewrite(part, random))
    : Object.entries(value).map(
        ([key, part]) => `${writeString(key, random)}${space()}:${space()}${rewrite(part, random)}`,
      );
  const ordered = isList ? parts : shuffle(parts, random);
  const inner = ordered.map(part => `${space()}${part}${space()}`).join(',');
  return isList ? `[${inner}]` : `{${inner}}`;
}

function writeString(text: string, random: Random): string {
  const escaped = Array.from(text, character => {
    const plain = JSON.stringify(character).slice(1, -1);
    if (random.chance(0.8)) return plain;
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
  return `"${escaped.join('')}"`;
}

function writeNumber(value: number, random: Random): string {
  const plain = JSON.stringify(value);
  if (random.chance(0.5)) return plain;
  if (value === 0) return random.pick(['0.00', '0e7', '0E-7']);
  const [whole = '0', fraction = ''] = plain.split('.');
  const digits = String(Number(`${whole}${fraction}`));
  return random.pick([
    fraction === '' ? `${plain}.0` : `${plain}00`,
    `${digits}e-${fraction.length}`,
    `${digits}00E-${fraction.length + 2}`,
  ]);
}

function shuffle<T>(values: readonly T[], random: Random): T[] {
  return values
    .map(value => ({ value, at: random.next() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value);
}
