/** Canonical tools as definitions in a dialect, by the rules of that dialect: names, descriptions and schemas that fit, and what was lost. */
import type { JsonObject } from '../../shared/protocol.ts';
import type { ExportedTools, ExportOptions, ConversionWarning } from './dialect.ts';
import type { CanonicalTool } from './canonical-form.ts';
import { toFittingNames, type NameRule } from './names.ts';
import { toOwnArguments } from './schema-back.ts';
import { bringDown } from './schema-down.ts';
import { toPropertyNames } from './schema-refs.ts';
import { Unsayable, type Lose, type SchemaRules } from './schema-rules.ts';
import { shortened } from '../../shared/util/shortened.ts';

/** A definition before it has the dialect's form. */
export interface Definition {
  name: string;
  description: string | undefined;
  schema: JsonObject;
  isStrict: boolean;
}

export interface ExportRules {
  names: NameRule;
  /** Longest description, in UTF-16 units; any where absent. */
  maxDescriptionChars?: number;
  schema: SchemaRules;
  /** Absent where the dialect cannot be held to a schema. */
  strictSchema?: SchemaRules;
  /** Counts strict schemas of one request: why another one is too much, or undefined. */
  createCount?(): (schema: JsonObject) => string | undefined;
  toDefinitions(definitions: readonly Definition[]): JsonObject[];
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
  const losses: ConversionWarning[] = [];
  const byName = new Map<string, { tool: CanonicalTool; isStrict: boolean }>();
  const count = rules.createCount?.() ?? (() => undefined);
  const definitions = tools.map(tool => {
    const lose: Lose = (path, kind, detail) => losses.push({ tool: tool.name, path, kind, detail });
    const name = fitting.get(tool.name) ?? tool.name;
    if (name !== tool.name) lose('/name', 'changed', `named ${name}`);
    const description = toDescription(tool, rules, lose);
    const strict = options.strict ? toStrict(tool, rules, count, lose) : undefined;
    const schema = strict ?? bringDown(tool.inputSchema, rules.schema, lose);
    byName.set(name, { tool, isStrict: strict !== undefined });
    return { name, description, schema, isStrict: strict !== undefined };
  });
  return {
    tools: rules.toDefinitions(definitions),
    names: new Map([...byName].map(([name, { tool }]) => [name, tool.name])),
    losses,
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
  lose: Lose,
): string | undefined {
  if (description === undefined || description.length <= max) return description;
  lose('/description', 'changed', `cut to ${max} characters`);
  return shortened(description, max);
}

/** The strict schema of a tool; undefined, and told as a loss, where it has none. */
function toStrict(
  { inputSchema }: CanonicalTool,
  { strictSchema }: ExportRules,
  count: (schema: JsonObject) => string | undefined,
  lose: Lose,
): JsonObject | undefined {
  if (!strictSchema) return undefined;
  const lost: Parameters<Lose>[] = [];
  try {
    const schema = bringDown(inputSchema, strictSchema, (...loss) => lost.push(loss));
    const excess = count(schema);
    if (excess !== undefined) throw new Unsayable('/inputSchema', excess);
    for (const loss of lost) lose(...loss);
    return schema;
  } catch (thrown) {
    if (!(thrown instanceof Unsayable)) throw thrown;
    lose(thrown.path, 'changed', `not strict: ${thrown.message}`);
    return undefined;
  }
}
