/** Toolsets: a named selection of servers and tools with its own endpoint, names and descriptions. */
import { PatternSchema } from '../../shared/util/name-pattern.ts';
import { z } from 'zod';
import { GroupSchema } from './rule.ts';

/** A toolset's name is part of a URL. */
export const ToolsetNameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/,
    'use 1 to 63 letters, digits, "-" or "_", starting with a letter or digit',
  );

/**
 * Another name and description for one tool. The name contains no separator of qualified names, so that it cannot be mistaken for one, and
 * is unique within the toolset.
 */
export const OverrideSchema = z.strictObject({
  /** Id or name of the server. */
  server: z.string().min(1).max(100),
  tool: z.string().min(1).max(200),
  name: z
    .string()
    .regex(/^(?!.*__)[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "-" or "_", no "__"')
    .optional(),
  description: z.string().min(1).max(4000).optional(),
});
export type Override = z.infer<typeof OverrideSchema>;

/**
 * What a list of tools shows: the tools themselves; three tools that find, describe and call them; or the one tool that takes a request in
 * words, for one call (`ask`) or for a chat.
 */
export const ToolsShownSchema = z.enum(['all', 'search', 'ask', 'chat']);
export type ToolsShown = z.infer<typeof ToolsShownSchema>;

const patterns = z.array(PatternSchema).max(500);

/** The stored definition of a toolset. Patterns are qualified: `github.create_*`; `github` is the whole server. */
export const DefinitionSchema = z.strictObject({
  include: patterns.min(1),
  exclude: patterns.default([]),
  overrides: z.array(OverrideSchema).max(500).default([]),
  /** How names are written where the URL does not say; absent: the deployment's style. */
  name_style: z.enum(['dot', 'colon', 'underscore']).optional(),
  /** What its endpoint lists where the URL does not say; absent: the deployment's choice. */
  tools: ToolsShownSchema.optional(),
  /** Who may use it beside holders of `admin`; absent: everybody who may use its tools. */
  members: z
    .strictObject({
      principals: z.array(z.string().min(1).max(100)).max(1000).default([]),
      groups: z.array(GroupSchema).max(100).default([]),
    })
    .optional(),
});
export type Definition = z.infer<typeof DefinitionSchema>;

/** A toolset as decisions use it. */
export interface Toolset {
  id: string;
  name: string;
  description: string;
  definition: Definition;
}
