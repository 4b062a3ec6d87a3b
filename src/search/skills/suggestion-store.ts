/**
 * The tables `skill_suggestions` and `suggested_tools`: skills that the taxonomy lacks, and the tools they were suggested for. Bounded by
 * the inserting statements. A pending suggestion without tools is deleted; a decided one stays, so that it is not suggested again.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { jsonOf, STAMP_COLUMNS } from '../../records/record-schema.ts';
import type { ReadTable } from '../../records/record-store.ts';
import { SUGGESTION_STATES, type SuggestionState } from './skill.ts';

/** A row of `skill_suggestions` with the first tools it was suggested for; times in milliseconds since the epoch. */
export const SuggestionSchema = z.object({
  /** The id that the skill would have. */
  id: z.string(),
  name: z.string(),
  description: z.string(),
  state: z.enum(SUGGESTION_STATES),
  /** The skill it became or was merged into. */
  skill_id: z.string().nullable(),
  ...STAMP_COLUMNS,
  tools: jsonOf(z.array(z.tuple([z.string(), jsonOf(z.string())]))).transform(tools =>
    tools.map(([server_id, tool]) => ({ server_id, tool })),
  ),
  tool_count: z.number(),
});
export type StoredSuggestion = z.infer<typeof SuggestionSchema>;

/** A suggestion for one tool. */
export interface NewSuggestion {
  id: string;
  name: string;
  description: string;
  tool: string;
}

const MAX_PENDING = 200;
const MAX_ALL = 2_000;
const MAX_TOOLS = 50;
const SHOWN_TOOLS = 10;

export const SUGGESTIONS: ReadTable<StoredSuggestion> = {
  name: 'skill_suggestions',
  source: `(SELECT skill_suggestions.*,
    (SELECT count(*) FROM suggested_tools WHERE suggestion_id = skill_suggestions.id) AS tool_count,
    (SELECT json_group_array(json_array(server_id, tool)) FROM
      (SELECT server_id, tool FROM suggested_tools WHERE suggestion_id = skill_suggestions.id ORDER BY server_id, tool LIMIT ${SHOWN_TOOLS})) AS tools
    FROM skill_suggestions)`,
  row: SuggestionSchema,
};

/** Writes the suggestions for a server's tools, replacing the earlier ones for the same tools. */
export function writeSuggestions(
  db: D1Database,
  serverId: string,
  tools: readonly string[],
  suggestions: readonly NewSuggestion[],
  now: number,
): D1PreparedStatement[] {
  const names = (list: readonly string[]) => JSON.stringify(list.map(tool => JSON.stringify(tool)));
  return [
    db
      .prepare(
        'DELETE FROM suggested_tools WHERE server_id = ? AND tool IN (SELECT value FROM json_each(?))',
      )
      .bind(serverId, names(tools)),
    ...suggestions.flatMap(({ id, name, description, tool }) => [
      db
        .prepare(
          `INSERT INTO skill_suggestions (id, name, description, state, revision, created_at, updated_at)
           SELECT ?1, ?2, ?3, 'pending', 1, ?4, ?4
           WHERE (SELECT count(*) FROM skill_suggestions WHERE state = 'pending') < ${MAX_PENDING}
             AND (SELECT count(*) FROM skill_suggestions) < ${MAX_ALL}
             AND NOT EXISTS (SELECT 1 FROM skills WHERE id = ?1 OR name = ?2 COLLATE NOCASE)
           ON CONFLICT (id) DO NOTHING`,
        )
        .bind(id, name, description, now),
      db
        .prepare(
          `INSERT INTO suggested_tools (suggestion_id, server_id, tool) SELECT ?1, ?2, ?3
           WHERE EXISTS (SELECT 1 FROM skill_suggestions WHERE id = ?1 AND state = 'pending')
             AND EXISTS (SELECT 1 FROM servers WHERE id = ?2)
             AND (SELECT count(*) FROM suggested_tools WHERE suggestion_id = ?1) < ${MAX_TOOLS}
           ON CONFLICT DO NOTHING`,
        )
        .bind(id, serverId, JSON.stringify(tool)),
    ]),
    db.prepare(
      `DELETE FROM skill_suggestions WHERE state = 'pending'
         AND NOT EXISTS (SELECT 1 FROM suggested_tools WHERE suggestion_id = skill_suggestions.id)`,
    ),
  ];
}

/** Holds while the suggestion is pending. */
export function whenPending(id: string): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM skill_suggestions WHERE id = ? AND state = 'pending')`,
    params: [id],
  };
}

/** A decision on a suggestion; its time is in milliseconds since the epoch. */
export interface Decision {
  id: string;
  state: SuggestionState;
  /** The skill it became or was merged into. */
  skillId: string | null;
  at: number;
}

/** Holds once the decision is recorded. */
export function whenDecided({ id, state, skillId, at }: Decision): Condition {
  return {
    sql: 'EXISTS (SELECT 1 FROM skill_suggestions WHERE id = ? AND state = ? AND skill_id IS ? AND updated_at = ?)',
    params: [id, state, skillId, at],
  };
}

/** Records the decision on a pending suggestion. @param when condition of the whole change */
export function decideSuggestion(
  db: D1Database,
  { id, state, skillId, at }: Decision,
  when: Condition,
): D1PreparedStatement[] {
  return [
    db
      .prepare(
        `UPDATE skill_suggestions SET state = ?, skill_id = ?, updated_at = ?, revision = revision + 1
         WHERE id = ? AND ${when.sql}`,
      )
      .bind(state, skillId, at, id, ...when.params),
    db
      .prepare(
        `DELETE FROM suggested_tools WHERE suggestion_id = ?1
           AND EXISTS (SELECT 1 FROM skill_suggestions WHERE id = ?1 AND state <> 'pending')`,
      )
      .bind(id),
  ];
}
