/** Tool definitions that 2026-07-28 allows, and that servers write by mistake: schemas of every kind, in every place. */
import { ToolSchema, type JsonObject } from '../../../src/shared/protocol.ts';
import { loadCorpus } from '../../fixtures/corpora.ts';
import type { Random } from '../seeded.ts';

const TEXTS = [
  '',
  '#',
  '#/',
  '#/$defs/a',
  '#/$defs/b~1c',
  '#/$defs/none',
  '#a',
  'urn:x',
  'https://x.example/s.json',
];
const WORDS = [
  'string',
  'object',
  'array',
  'integer',
  'null',
  'date',
  'any',
  '(',
  '(?i)a',
  '^a$',
  '\\p{L}',
  '[a-',
];
const KEYWORDS =
  'type enum const default examples format pattern nullable required items prefixItems properties patternProperties additionalProperties propertyNames anyOf oneOf allOf not if then else contains minimum ' +
  'exclusiveMinimum maxLength uniqueItems dependencies dependentRequired dependentSchemas $ref $defs definitions $id id $anchor $dynamicRef $recursiveRef $schema $comment $async description title discriminator readOnly unevaluatedProperties x-odd contentEncoding multipleOf minContains __proto__';
const KEYS = KEYWORDS.split(' ');

/** Text that broke software, as names, expressions, references and values. */
const NAUGHTY = loadCorpus('naughty-strings').cases.filter(text => text.length < 200);

/** A value of any kind, most often a schema. */
export function oddSchema(random: Random, depth = 3): unknown {
  if (depth === 0 || random.chance(0.15)) return oddLeaf(random);
  const entries = Array.from({ length: random.below(4) }, (): [string, unknown] => {
    const key = random.pick(KEYS);
    return [key, oddValue(random, key, depth - 1)];
  });
  return Object.fromEntries(entries);
}

function oddLeaf(random: Random): unknown {
  const leaves: (() => unknown)[] = [
    () => random.chance(0.5),
    () => ({ type: random.pick(WORDS) }),
    () => ({ $ref: random.pick(TEXTS) }),
    () => ({}),
    () => random.pick(WORDS),
    () => random.pick(NAUGHTY),
    () => random.below(5) - 1,
    () => null,
    () => [],
  ];
  return random.pick(leaves)();
}

function oddValue(random: Random, key: string, depth: number): unknown {
  if (random.chance(0.1)) return oddLeaf(random);
  const named = () =>
    Object.fromEntries(
      Array.from({ length: random.below(3) }, () => [
        random.pick(['a', 'b/c', 'type', '$id', 'id', '__proto__', random.pick(NAUGHTY)]),
        oddSchema(random, depth),
      ]),
    );
  const listed = () => Array.from({ length: random.below(3) }, () => oddSchema(random, depth));
  if (/^(properties|patternProperties|\$defs|definitions|depend.*)$/.test(key)) return named();
  if (/^(anyOf|oneOf|allOf|prefixItems|examples|enum)$/.test(key)) return listed();
  if (key === 'type') return random.chance(0.8) ? random.pick(WORDS) : [random.pick(WORDS), 'null'];
  if (key === 'required') return random.chance(0.8) ? ['a'] : ['a', 'a'];
  if (key === 'format' && random.chance(0.7)) return 'uri';
  if (/^(pattern|title|description)$/.test(key))
    return random.pick([...WORDS, random.pick(NAUGHTY)]);
  if (key.startsWith('$') || key === 'id') return random.pick([...TEXTS, random.pick(NAUGHTY)]);
  return oddSchema(random, depth);
}

/** A tool that discovery accepts. */
export function oddTool(random: Random, name: string): JsonObject {
  for (;;) {
    const input = oddSchema(random) as JsonObject;
    const made = {
      name,
      inputSchema: { ...input, type: 'object' },
      outputSchema: random.chance(0.7) ? oddOutput(random) : undefined,
      ...(random.chance(0.2) ? { execution: { taskSupport: 'optional' } } : {}),
    };
    const tool = JSON.parse(JSON.stringify(made)) as JsonObject;
    if (ToolSchema.safeParse(tool).success) return tool;
  }
}

function oddOutput(random: Random): unknown {
  const schema = oddSchema(random);
  if (typeof schema !== 'object' || schema === null || random.chance(0.4)) return schema;
  const defs = { a: { type: 'string' }, 'b/c': { items: { $ref: '#' } } };
  return { type: 'object', ...schema, ...(random.chance(0.5) ? { $defs: defs } : {}) };
}
