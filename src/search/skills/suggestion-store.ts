/**
 * The tables `skill_suggestions` and `suggested_tools`: skills that are missed, and for which tools. Bounded by the statements that insert. A
 * suggestion that waits for nobody's tool any more goes; one that was decided on stays, so that it does not come back.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { SUGGESTION_STATES, type SuggestionState } from './skill.ts';

export interface StoredSuggestion {
  /** The id that the skill would have. */
  id: string;
  name: string;
  description: string;
  state: SuggestionState;
  /** The skill that came of it. */
  skillId: string | null;
  revision: number;
  createdAt: number;
  updatedAt: number;
  /** For which it was suggested, ten at most. */
  tools: readonly { serverId: string; tool: string }[];
  toolCount: number;
}

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

const RowSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    state: z.enum(SUGGESTION_STATES),
    skill_id: z.string().nullable(),
    revision: z.number(),
    created_at: z.number(),
    updated_at: z.number(),
    tools: z.string(),
    tool_count: z.number(),
  })
  .transform((row): StoredSuggestion => ({
    id: row.id,
    name: row.name,
    description: row.description,
    state: row.state,
    skillId: row.skill_id,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    tools: z
      .array(z.tuple([z.string(), z.string()]))
      .parse(JSON.parse(row.tools))
      .map(([serverId, tool]) => ({ serverId, tool: JSON.parse(tool) as string })),
    toolCount: row.tool_count,
  }));

const SELECT = `SELECT skill_suggestions.*,
  (SELECT count(*) FROM suggested_tools WHERE suggestion_id = skill_suggestions.id) AS tool_count,
  (SELECT json_group_array(json_array(server_id, tool)) FROM
    (SELECT server_id, tool FROM suggested_tools WHERE suggestion_id = skill_suggestions.id ORDER BY server_id, tool LIMIT ${SHOWN_TOOLS})) AS tools
  FROM skill_suggestions`;

/** Note what was suggested for tools of a server, in place of what was before for these. */
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

/** One page, the newest first; rows for {@link parseSuggestions}. */
export function selectSuggestionPage(
  db: D1Database,
  state: SuggestionState | undefined,
  after: { createdAt: number; id: string } | undefined,
  limit: number,
): D1PreparedStatement {
  return db
    .prepare(
      `${SELECT} WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR created_at < ?2 OR (created_at = ?2 AND id > ?3))
       ORDER BY created_at DESC, id LIMIT ?4`,
    )
    .bind(state ?? null, after?.createdAt ?? null, after?.id ?? null, limit);
}

export function parseSuggestions(rows: readonly unknown[]): StoredSuggestion[] {
  return rows.map(row => RowSchema.parse(row));
}

/** How many there are; a row for `parseTotal`. */
export function selectSuggestionTotal(
  db: D1Database,
  state: SuggestionState | undefined,
): D1PreparedStatement {
  return db
    .prepare('SELECT count(*) AS total FROM skill_suggestions WHERE (?1 IS NULL OR state = ?1)')
    .bind(state ?? null);
}

export async function findSuggestion(
  db: D1Database,
  id: string,
): Promise<StoredSuggestion | undefined> {
  const row = await db.prepare(`${SELECT} WHERE id = ?`).bind(id).first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** The suggestion still waits. */
export function whenPending(id: string): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM skill_suggestions WHERE id = ? AND state = 'pending')`,
    params: [id],
  };
}

/** What was decided. */
export function decideSuggestion(
  db: D1Database,
  id: string,
  state: SuggestionState,
  skillId: string | null,
  now: number,
): D1PreparedStatement[] {
  return [
    db
      .prepare(
        `UPDATE skill_suggestions SET state = ?, skill_id = ?, updated_at = ?, revision = revision + 1
         WHERE id = ? AND state = 'pending'`,
      )
      .bind(state, skillId, now, id),
    db
      .prepare(
        `DELETE FROM suggested_tools WHERE suggestion_id = ?1
           AND EXISTS (SELECT 1 FROM skill_suggestions WHERE id = ?1 AND state <> 'pending')`,
      )
      .bind(id),
  ];
}
