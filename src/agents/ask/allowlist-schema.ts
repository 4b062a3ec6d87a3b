/** Entries of the allow-list in the API: what it takes and shows, and what is stored of one beside what a decision uses. */
import { z } from 'zod';
import { EVERYTHING, type NamedServer, PatternSchema } from '../../shared/util/name-pattern.ts';
import { SubjectSchema, type Subject } from '../../access/policy/rule.ts';
import { toShownServer } from '../../servers/server-names.ts';
import type { AllowEntry } from './allow-list.ts';

/** An entry as it is stored; the time in milliseconds since the epoch. */
export interface StoredEntry extends AllowEntry {
  id: string;
  subject: Subject;
  description: string;
  revision: number;
  createdAt: number;
}

const isExact = ({ server, tool }: { server: string; tool: string }) =>
  !server.includes(EVERYTHING) && !tool.includes(EVERYTHING);

/** Body of `POST /api/v1/ask/allowlist`. */
export const CreateEntrySchema = z
  .strictObject({
    subject: SubjectSchema.default({ kind: 'everyone' }),
    server: PatternSchema.meta({
      description: 'Name or id of a server, or a pattern over names; stays with the server named',
    }),
    tool: PatternSchema.meta({ description: 'Pattern over the names tools have at their server' }),
    side_effects: z.boolean().default(false).meta({
      description: 'Also where the tool is not annotated read-only; server and tool without "*"',
    }),
    description: z.string().max(2_000).default(''),
  })
  .refine(entry => !entry.side_effects || isExact(entry), {
    path: ['side_effects'],
    message: 'name one server and one tool, without "*"',
  });
export type CreateEntry = z.infer<typeof CreateEntrySchema>;

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

/** Project an entry to its API form, with the name its server has now. */
export function toEntryView(
  entry: StoredEntry,
  servers: readonly NamedServer[],
): z.infer<typeof EntryViewSchema> {
  const { id, subject, server, tool, sideEffects, description, revision, createdAt } = entry;
  return {
    id,
    subject,
    server: toShownServer(server, servers),
    tool,
    side_effects: sideEffects,
    description,
    revision,
    created_at: new Date(createdAt).toISOString(),
  };
}
