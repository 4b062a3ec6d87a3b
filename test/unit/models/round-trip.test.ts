/**
 * A thousand generated schemas, exported to each dialect and back: a tool's valid arguments can be given and come back unchanged, the
 * report names every change, and every definition obeys the published rules of its API.
 */
import { Validator, type Schema } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '../../../src/models/formats/dialect.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import type { CanonicalTool } from '../../../src/models/formats/canonical-form.ts';
import { toPropertyNames } from '../../../src/models/formats/schema-refs.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { createRandom, SEED } from '../seeded.ts';
import { generateSchema, type Generated } from './generated-schemas.ts';
import { definitionsOf, findDifferences, findUntold, schemaOf } from './losses.ts';
import { checkAnthropicTools } from './rules-anthropic.ts';
import { checkGeminiFunction } from './rules-gemini.ts';
import { checkOpenaiFunction } from './rules-openai.ts';
import { ANTHROPIC_RULES } from '../../../src/models/formats/anthropic-schema.ts';
import { GEMINI_RULES } from '../../../src/models/formats/gemini-schema.ts';

const COUNT = 1_000;
const random = createRandom();
const generated: Generated[] = Array.from({ length: COUNT }, () => generateSchema(random));
const odd = ['1st', '-dash', 'ümlaut', 'a.b', 'x'.repeat(80), 'with space', '数'];
const tools: CanonicalTool[] = generated.map(({ schema }, index) => ({
  name: index % 3 === 0 ? `${odd[index % odd.length]}_${index}` : `server__tool_${index}`,
  description: index % 7 === 0 ? 'd'.repeat(1_500) : 'A tool',
  inputSchema: schema,
}));

const isValid = (schema: JsonObject, value: unknown) =>
  new Validator(schema as Schema, '2020-12').validate(value).valid;

const checkTools = (format: Format, exported: readonly JsonObject[]): string[] => {
  const definitions = definitionsOf(format, exported);
  if (format === 'anthropic') return checkAnthropicTools(definitions);
  const check = format === 'gemini' ? checkGeminiFunction : checkOpenaiFunction;
  return definitions.flatMap(check);
};

const namesFor = (format: Format, schema: JsonObject) => {
  if (format === 'anthropic') return toPropertyNames(schema, ANTHROPIC_RULES.schema);
  return format === 'gemini'
    ? toPropertyNames(schema, GEMINI_RULES.schema)
    : new Map<string, string>();
};

const MODES = FORMATS.flatMap(format => [
  { format, strict: false },
  { format, strict: true },
]);

describe(`generated schemas, seed ${SEED}`, () => {
  it('[LLM-1] accept their sample arguments', () => {
    for (const { schema, sample } of generated) expect(isValid(schema, sample().own)).toBe(true);
  });

  describe.each(MODES)('exported to $format, strict $strict', ({ format, strict }) => {
    const dialect = dialectOf(format);
    // Split as in requests; limits of a whole request apply to each.
    const parts = Array.from({ length: COUNT / 20 }, (_, index) =>
      tools.slice(index * 20, index * 20 + 20),
    );
    const exports = parts.map(part => ({ part, exported: dialect.toTools(part, { strict }) }));
    const each = exports.flatMap(({ part, exported }, block) =>
      part.map((tool, index) => {
        const definition = definitionsOf(format, exported.tools)[index] ?? {};
        const losses = exported.warnings.filter(loss => loss.tool === tool.name);
        const source = generated[block * 20 + index];
        if (!source) throw new Error('no source');
        return { tool, exported, definition, losses, source };
      }),
    );

    it('[LLM-1] each definition obeys the published rules', () => {
      const breaches = exports.flatMap(({ exported }) => checkTools(format, exported.tools));
      expect(breaches).toEqual([]);
    });

    it('[LLM-1] names map back, each to one tool', () => {
      for (const { part, exported } of exports) {
        expect([...exported.names.values()].toSorted()).toEqual(
          part.map(({ name }) => name).toSorted(),
        );
        const defined = definitionsOf(format, exported.tools).map(({ name }) => name);
        expect([...exported.names.keys()]).toEqual(defined);
      }
    });

    it('[LLM-1] arguments can be given and come back unchanged', () => {
      for (const { tool, exported, definition, source } of each) {
        const names = namesFor(format, tool.inputSchema);
        const nulls = format.startsWith('openai') && definition['strict'] === true;
        const value = source.sample();
        const chosen = value.given({ names, nulls }) as JsonObject;
        // Where alternatives at the root were merged, each leaves out the properties that only the others have.
        const listed = schemaOf(definition)['properties'] as JsonObject;
        const missing = Object.keys(nulls ? listed : {}).filter(
          name => !Object.hasOwn(chosen, name),
        );
        const given: JsonObject = Object.fromEntries([
          ...Object.entries(chosen),
          ...missing.map(name => [name, null] as const),
        ]);
        const at = { schema: tool.inputSchema, exported: schemaOf(definition), given };
        expect({ ...at, valid: isValid(schemaOf(definition), given) }).toEqual({
          ...at,
          valid: true,
        });
        const back = exported.toArguments(String(definition['name']), given);
        expect(JSON.stringify(back)).toBe(JSON.stringify(value.own));
      }
    });

    it('[LLM-1] the report names every change, and nothing unchanged', () => {
      let changed = 0;
      for (const { tool, definition, losses } of each) {
        const names = namesFor(format, tool.inputSchema);
        const found = findDifferences(tool.inputSchema, schemaOf(definition), names);
        changed += found.length;
        const pending = findUntold(found, losses);
        expect({
          pending,
          schema: pending.length > 0 ? [tool.inputSchema, schemaOf(definition)] : 0,
        }).toEqual({
          pending: [],
          schema: 0,
        });
        // The check finds differences without a loss.
        expect(findUntold(found, [])).toEqual(found);
        const own = losses.filter(
          ({ path, detail }) => path.startsWith('/inputSchema') && !detail.startsWith('not strict'),
        );
        expect(own.length > 0).toBe(found.length > 0);
        const isRenamed = definition['name'] !== tool.name;
        expect(losses.some(({ path }) => path === '/name')).toBe(isRenamed);
        const isCut = definition['description'] !== tool.description;
        expect(losses.some(({ path }) => path === '/description')).toBe(isCut);
      }
      expect(changed).toBeGreaterThan(0);
    });
  });
});
