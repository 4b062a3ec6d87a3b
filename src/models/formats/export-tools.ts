/** Exports canonical tools as definitions of a dialect, by its rules: fitting names, descriptions and schemas, with conversion warnings. */
import type { JsonObject } from '../../shared/protocol.ts';
import type { ExportedTools, ExportOptions, ConversionWarning } from './dialect.ts';
import type { CanonicalTool } from './canonical-form.ts';
import { toFittingNames, type NameRule } from './names.ts';
import { toOwnArguments } from './schema-back.ts';
import { bringDown } from './schema-down.ts';
import { toPropertyNames } from './schema-refs.ts';
import { Unsayable, type Warn, type SchemaRules } from './schema-rules.ts';
import { shortened } from '../../shared/util/shortened.ts';

export interface ExportRules {
  names: NameRule;
  /** Longest description, in UTF-16 units; unlimited where absent. */
  maxDescriptionChars?: number;
  schema: SchemaRules;
  /** Absent where the dialect cannot enforce a schema. */
  strictSchema?: SchemaRules;
  /** Returns a counter for the strict schemas of one request. The counter returns why another schema exceeds the limits, or undefined. */
  createCount?(): (schema: JsonObject) => string | undefined;
  /** Returns the definition of a tool. @param head its name, and its description if it has one */
  toDefinition(head: JsonObject, schema: JsonObject, isStrict: boolean): JsonObject;
  /** Returns `tools` of a request; by default the definitions themselves. */
  toTools?(definitions: JsonObject[]): JsonObject[];
}

export function exportTools(
  tools: readonly CanonicalTool[],
  options: ExportOptions,
  rules: ExportRules,
): ExportedTools {
  const fitting =
    options.names ??
    toFittingNames(
      tools.map(({ name }) => name),
      rules.names,
    );
  const warnings: ConversionWarning[] = [];
  const byName = new Map<string, { tool: CanonicalTool; isStrict: boolean }>();
  const count = rules.createCount?.() ?? (() => undefined);
  const definitions = tools.map(tool => {
    const warn: Warn = (path, kind, detail) =>
      warnings.push({ tool: tool.name, path, kind, detail });
    const name = fitting.get(tool.name) ?? tool.name;
    if (name !== tool.name) warn('/name', 'changed', `named ${name}`);
    const description = toDescription(tool, rules, warn);
    const strict = options.strict ? toStrict(tool, rules, count, warn) : undefined;
    const schema = strict ?? bringDown(tool.inputSchema, rules.schema, warn);
    byName.set(name, { tool, isStrict: strict !== undefined });
    const head = { name, ...(description === undefined ? {} : { description }) };
    return rules.toDefinition(head, schema, strict !== undefined);
  });
  return {
    tools: rules.toTools?.(definitions) ?? definitions,
    names: new Map([...byName].map(([name, { tool }]) => [name, tool.name])),
    warnings,
    toArguments(name, given) {
      const known = byName.get(name);
      if (!known) return given;
      const { inputSchema: schema } = known.tool;
      const used = (known.isStrict && rules.strictSchema) || rules.schema;
      const changed = [...toPropertyNames(schema, used)].filter(([one, other]) => one !== other);
      const dropsNulls = used.allRequired === true;
      if (changed.length === 0 && !dropsNulls) return given;
      const names = new Map(changed.map(([own, other]) => [other, own]));
      return toOwnArguments(given, { schema, names, dropsNulls });
    },
  };
}

function toDescription(
  { description }: CanonicalTool,
  { maxDescriptionChars: max = Infinity }: ExportRules,
  warn: Warn,
): string | undefined {
  if (description === undefined || description.length <= max) return description;
  warn('/description', 'changed', `cut to ${max} characters`);
  return shortened(description, max);
}

/** Returns the strict schema of a tool; undefined where it has none, with a conversion warning. */
function toStrict(
  { inputSchema }: CanonicalTool,
  { strictSchema }: ExportRules,
  count: (schema: JsonObject) => string | undefined,
  warn: Warn,
): JsonObject | undefined {
  if (!strictSchema) return undefined;
  const warnings: Parameters<Warn>[] = [];
  try {
    const schema = bringDown(inputSchema, strictSchema, (...warning) => warnings.push(warning));
    const excess = count(schema);
    if (excess !== undefined) throw new Unsayable('/inputSchema', excess);
    for (const warning of warnings) warn(...warning);
    return schema;
  } catch (thrown) {
    if (!(thrown instanceof Unsayable)) throw thrown;
    warn(thrown.path, 'changed', `not strict: ${thrown.message}`);
    return undefined;
  }
}
