/** Allow-list entries in the API: what it accepts and shows, and what is stored of an entry. */
import { z } from 'zod';
import { EVERYTHING, type NamedServer, PatternSchema } from '../../shared/util/name-pattern.ts';
import { SubjectColumnsSchema, SubjectSchema, toSubject } from '../../access/policy/rule.ts';
import { DescriptionSchema, FlagSchema } from '../../records/record-schema.ts';
import { toShownServer } from '../../servers/server-names.ts';

/** A row of `ask_allowlist`; the time in milliseconds since the epoch. */
export const StoredEntrySchema = z.object({
  id: z.string(),
  ...SubjectColumnsSchema.shape,
  server: z.string(),
  tool: z.string(),
  side_effects: FlagSchema,
  description: z.string(),
  revision: z.number(),
  created_at: z.number(),
});
export type StoredEntry = z.infer<typeof StoredEntrySchema>;

/** Whether an entry for tools with side effects names one tool of one server. */
export const isExactEnough = (entry: Pick<StoredEntry, 'server' | 'tool' | 'side_effects'>) =>
  !entry.side_effects || ![entry.server, entry.tool].some(text => text.includes(EVERYTHING));
export const NOT_EXACT = {
  path: ['side_effects'],
  message: 'name one server and one tool, without "*"',
};

/** Body of `POST /api/v1/ask/allowlist`. */
export const CreateEntrySchema = z
  .strictObject({
    subject: SubjectSchema.default({ kind: 'everyone' }),
    server: PatternSchema.meta({
      description:
        'Name or id of a server, or a pattern over names; a server that is named here is kept after a rename',
    }),
    tool: PatternSchema.meta({ description: 'Pattern over the names of tools at their server' }),
    side_effects: z.boolean().default(false).meta({
      description: 'Also where the tool is not annotated read-only; server and tool without "*"',
    }),
    description: DescriptionSchema.default(''),
  })
  .refine(isExactEnough, NOT_EXACT);
export type CreateEntry = z.infer<typeof CreateEntrySchema>;

/** Entries are not filtered. */
export const EntryQuerySchema = z.strictObject({});
export type EntryQuery = z.infer<typeof EntryQuerySchema>;

export const EntryViewSchema = z.object({
  id: z.string(),
  subject: SubjectSchema,
  server: z.string(),
  tool: z.string(),
  side_effects: z.boolean(),
  description: z.string(),
  revision: z.number().int(),
  created_at: z.iso.datetime(),
});

/** Converts an entry to its API form, with its server's current name. */
export function toEntryView(
  entry: StoredEntry,
  servers: readonly NamedServer[],
): z.infer<typeof EntryViewSchema> {
  return {
    id: entry.id,
    subject: toSubject(entry),
    server: toShownServer(entry.server, servers),
    tool: entry.tool,
    side_effects: entry.side_effects,
    description: entry.description,
    revision: entry.revision,
    created_at: new Date(entry.created_at).toISOString(),
  };
}
