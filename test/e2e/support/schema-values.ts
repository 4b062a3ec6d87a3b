/** Values for the schemas of others: valid ones, generated from the schema, and the same with one thing changed. */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const OF_FORMAT: Readonly<Record<string, string>> = {
  uri: 'https://example.com/a',
  'date-time': '2026-07-28T12:30:15Z',
  date: '2026-07-28',
  uuid: '018f3c1e-7c1b-4def-8abc-0123456789ab',
  email: 'ann@example.com',
  json: '{"a":1}',
};
/** A long text, like the content of a file or a page. */
const BODY = 'some text of a file\n'.repeat(40);
const MAX_DEPTH = 8;

/** @param isLeast only with required members */
export function valueOf(schema: unknown, root: Json, isLeast: boolean, depth = MAX_DEPTH): unknown {
  if (!isObject(schema)) return 'anything';
  const inner = (part: unknown) => valueOf(part, root, isLeast || depth <= 0, depth - 1);
  if (typeof schema['$ref'] === 'string') return inner(target(schema['$ref'], root));
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  for (const ways of [schema['anyOf'], schema['oneOf']]) {
    if (Array.isArray(ways)) return inner(ways[0]);
  }
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (type === 'string') return textOf(schema);
  if (type === 'number' || type === 'integer') return numberOf(schema);
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type === 'array') {
    const count = Math.max(Number(schema['minItems'] ?? 0), isLeast ? 0 : 1);
    return Array.from({ length: count }, () => inner(schema['items']));
  }
  return objectOf(schema, isLeast, inner);
}

function objectOf(schema: Json, isLeast: boolean, inner: (part: unknown) => unknown): Json {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = Object.keys(properties).filter(name => !isLeast || required.includes(name));
  return Object.fromEntries(names.map(name => [name, inner(properties[name])]));
}

function textOf({ format, minLength, maxLength }: Json): string {
  const text = typeof format === 'string' ? OF_FORMAT[format] : undefined;
  if (text !== undefined) return text;
  return BODY.padEnd(Number(minLength ?? 0), 'x').slice(0, Number(maxLength ?? BODY.length));
}

function numberOf(schema: Json): number {
  const { minimum, maximum, exclusiveMinimum } = schema;
  if (typeof minimum === 'number') return minimum;
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1;
  return typeof maximum === 'number' ? Math.min(1, maximum) : 1;
}

function target(reference: string, root: Json): unknown {
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    at = isObject(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return at;
}

/** Yields the value with one change each: a member left out, an unknown one, a value of another type, at any depth. */
export function* spoiledFrom(value: unknown): Generator<unknown> {
  yield typeof value === 'string' ? 7 : 'another type';
  if (typeof value === 'number') yield* [-1e9, 1e9, value + 0.5];
  if (typeof value === 'string') yield* ['', 'x'];
  if (Array.isArray(value)) {
    yield [];
    for (const spoiled of value.length > 0 ? spoiledFrom(value[0]) : []) yield [spoiled];
  }
  if (!isObject(value)) return;
  yield { ...value, nobody_knows: 1 };
  for (const [name, member] of Object.entries(value)) {
    const { [name]: _gone, ...others } = value;
    yield others;
    for (const spoiled of spoiledFrom(member)) yield { ...value, [name]: spoiled };
  }
}
