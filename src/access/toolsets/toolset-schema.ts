/**
 * Toolsets in the API: what it accepts and shows, what is stored, and which definitions are refused because two tools would have one name.
 * Pure.
 */
import { z } from 'zod';
import {
  DescriptionSchema,
  jsonOf,
  namePartOf,
  STAMP_COLUMNS,
  STAMP_VIEW,
  toStampView,
} from '../../records/record-schema.ts';
import type { FieldProblem } from '../../shared/errors/portico-error.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import {
  findNamed,
  toShownPattern,
  toShownServer,
  toStoredPattern,
} from '../../servers/server-names.ts';
import { DefinitionSchema, ToolsetNameSchema, type Definition } from '../policy/toolset.ts';

/** A row of `toolsets`; times in milliseconds since the epoch. */
export const StoredToolsetSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  definition: jsonOf(DefinitionSchema),
  ...STAMP_COLUMNS,
});
export type StoredToolset = z.infer<typeof StoredToolsetSchema>;

/** Most characters of a definition as JSON: all definitions are read with the registry. */
const MAX_DEFINITION_CHARS = 131_072;

const { include, exclude, overrides, name_style, tools: shown, members } = DefinitionSchema.shape;

/** Body of `POST /api/v1/toolsets`. */
export const CreateToolsetSchema = z.strictObject({
  name: ToolsetNameSchema,
  description: DescriptionSchema.default(''),
  ...DefinitionSchema.shape,
});
export type CreateToolset = z.infer<typeof CreateToolsetSchema>;

/** Body of `PATCH /api/v1/toolsets/{id}`: absent fields stay as they are, null clears. */
export const UpdateToolsetSchema = z
  .strictObject({
    name: ToolsetNameSchema,
    description: DescriptionSchema,
    include,
    exclude: exclude.unwrap(),
    overrides: overrides.unwrap(),
    name_style: name_style.unwrap().nullable(),
    tools: shown.unwrap().nullable(),
    members: members.unwrap().nullable(),
  })
  .partial();
export type UpdateToolset = z.infer<typeof UpdateToolsetSchema>;

export const ToolsetQuerySchema = z.strictObject({ name: namePartOf(63) });
export type ToolsetQuery = z.infer<typeof ToolsetQuerySchema>;

export const ToolsetViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  path: z.string().meta({ description: 'Path of its MCP endpoint' }),
  description: z.string(),
  ...DefinitionSchema.shape,
  ...STAMP_VIEW,
});

/** A definition as it is stored, and the problems found in it. */
export interface Judged {
  definition: Definition;
  problems: FieldProblem[];
}

/** Replaces exactly named servers by their ids, and finds what is invalid. */
export function judgeDefinition(given: Definition, servers: readonly NamedServer[]): Judged {
  const problems: FieldProblem[] = [];
  const resolve = (field: string, text: string, found: string | undefined): string => {
    if (found === undefined) problems.push({ field, message: `there is no server for ${text}` });
    return found ?? text;
  };
  const patterns = (field: 'include' | 'exclude') =>
    given[field].map((text, i) => resolve(`${field}.${i}`, text, toStoredPattern(text, servers)));
  const definition: Definition = {
    ...given,
    include: patterns('include'),
    exclude: patterns('exclude'),
    overrides: given.overrides.map(({ description, ...override }, i) => {
      const found = findNamed(override.server, servers)?.id;
      const server = resolve(`overrides.${i}.server`, override.server, found);
      // A blank one shows the server's own.
      return { ...override, ...(description?.trim() ? { description } : {}), server };
    }),
  };
  const isReadable = DefinitionSchema.safeParse(definition);
  for (const { path, message } of isReadable.error?.issues ?? []) {
    problems.push({ field: path.join('.'), message });
  }
  if (JSON.stringify(definition).length > MAX_DEFINITION_CHARS) {
    const message = `the definition has more than ${MAX_DEFINITION_CHARS} characters`;
    problems.push({ field: '(body)', message });
  }
  return { definition, problems: [...problems, ...findCollisions(definition)] };
}

/** Finds overrides that give one name to two tools, or that are for the same tool; each of the fields gets a problem. */
function findCollisions({ overrides: all }: Definition): FieldProblem[] {
  const names = findTwins(all.map(({ name }) => name));
  const tools = findTwins(all.map(({ server, tool }) => JSON.stringify([server, tool])));
  return [
    ...names.map(([i, twin]) => ({
      field: `overrides.${i}.name`,
      message: `is also the name of overrides.${twin}`,
    })),
    ...tools.map(([i, twin]) => ({
      field: `overrides.${i}`,
      message: `is for the same tool as overrides.${twin}`,
    })),
  ];
}

/** Returns each place whose text also occurs elsewhere, with one such other place. */
function findTwins(texts: readonly (string | undefined)[]): [place: number, twin: number][] {
  const first = new Map<string, number>();
  const last = new Map<string, number>();
  texts.forEach((text, i) => {
    if (text === undefined) return;
    if (!first.has(text)) first.set(text, i);
    last.set(text, i);
  });
  return texts.flatMap((text, i): [number, number][] => {
    if (text === undefined) return [];
    const [from = i, to = i] = [first.get(text), last.get(text)];
    return from === to ? [] : [[i, i === from ? to : from]];
  });
}

/** Converts a toolset to its API form, with its servers' current names. */
export function toToolsetView(
  toolset: StoredToolset,
  servers: readonly NamedServer[],
): z.infer<typeof ToolsetViewSchema> {
  const { id, name, description, definition } = toolset;
  return {
    id,
    name,
    path: `/mcp/toolsets/${name}`,
    description,
    ...definition,
    include: definition.include.map(pattern => toShownPattern(pattern, servers)),
    exclude: definition.exclude.map(pattern => toShownPattern(pattern, servers)),
    overrides: definition.overrides.map(override => ({
      ...override,
      server: toShownServer(override.server, servers),
    })),
    ...toStampView(toolset),
  };
}
