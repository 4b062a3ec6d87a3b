/** Schemas of single values, with valid values: the parts of generated schemas. */
import type { JsonObject } from '../../../src/shared/protocol.ts';
import type { Random } from '../seeded.ts';

/** How a dialect represents arguments: its property names, and whether an absent property is null. */
export interface Form {
  names: ReadonlyMap<string, string>;
  nulls: boolean;
}

/** A value in the tool's form, and in that of a dialect. */
export interface Value {
  own: unknown;
  given(form: Form): unknown;
}

export interface Node {
  schema: JsonObject | boolean;
  takesNull: boolean;
  sample(): Value;
}

const FORMATS: readonly (readonly [string, string])[] = [
  ['date-time', '2026-07-28T10:00:00Z'],
  ['email', 'a@example.com'],
  ['uuid', '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10'],
  ['uri', 'https://example.com/a'],
  ['iban', 'DE02120300000000202051'],
];

export const plain = (own: unknown): Value => ({ own, given: () => own });
export const leaf = (
  schema: JsonObject | boolean,
  values: readonly unknown[],
  random: Random,
): Node => ({
  schema,
  takesNull: values.includes(null),
  sample: () => plain(random.pick(values)),
});

export function stringNode(random: Random): Node {
  const [format, sample] = random.pick(FORMATS);
  const schema: JsonObject = { type: 'string' };
  if (random.chance(0.3)) return leaf({ ...schema, format }, [sample], random);
  if (random.chance(0.3)) schema['pattern'] = '^a+$';
  if (random.chance(0.3)) schema['minLength'] = 1;
  if (random.chance(0.3)) schema['maxLength'] = 20;
  if (random.chance(0.2)) schema['default'] = 'aaa';
  return leaf(schema, ['a', 'aaa'], random);
}

export function numberNode(random: Random): Node {
  const schema: JsonObject = { type: random.pick(['number', 'integer']) };
  if (random.chance(0.3)) schema['minimum'] = 0;
  if (random.chance(0.2)) schema['exclusiveMaximum'] = 100;
  if (random.chance(0.2)) schema['maximum'] = 50;
  if (random.chance(0.1)) schema['multipleOf'] = 2;
  if (random.chance(0.1)) schema['format'] = 'int32';
  return leaf(schema, [0, 4, 42], random);
}

export function enumNode(random: Random): Node {
  const values = random.pick<readonly unknown[]>([
    ['red', 'green'],
    [1, 2, 3],
    ['on', null],
    [true],
    ['a', 1, false],
    [{ a: 1 }, 'b'],
  ]);
  const isText = values.every(value => typeof value === 'string');
  const typed = isText && random.chance(0.7) ? { type: 'string' } : {};
  return leaf({ ...typed, enum: [...values] }, values, random);
}

export const listOf = (values: readonly Value[]): Value => ({
  own: values.map(each => each.own),
  given: form => values.map(each => each.given(form)),
});

/** Like `Object.fromEntries`, which also handles the name `__proto__`. */
export function fromEntries(entries: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(entries);
}
