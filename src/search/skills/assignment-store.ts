/**
 * The table `tool_skills`: which skills a tool has. Reads return parsed rows; writes return statements, the last of which increments the
 * server's `skills_revision`, so that every isolate reads again. A correction by hand is overwritten only by another correction.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { toChunks } from '../../shared/util/chunks.ts';
import {
  SOURCES,
  toToolSkills,
  type Assigned,
  type ServerSkills,
  type Source,
  type ToolSkills,
} from '../../servers/registry/tool-skills.ts';

/** The stored skills of one tool. */
export interface Assignment {
  /** The server's own name for it. */
  tool: string;
  /** Of the definition that was classified. */
  fingerprint: string;
  /** In the order of display; empty where the tool is not classified. */
  skills: readonly Assigned[];
  reason: string | null;
  source: Source;
  /** Taxonomy and classifier that made it; empty where the tool is to be classified again. */
  madeFor: string;
}

const SkillsSchema = z.array(z.tuple([z.string(), z.number()]));
const RowSchema = z
  .object({
    tool: z.string(),
    fingerprint: z.string(),
    skills: z.string(),
    reason: z.string().nullable(),
    source: z.enum(SOURCES),
    made_for: z.string(),
  })
  .transform((row): Assignment => ({
    tool: JSON.parse(row.tool) as string,
    fingerprint: row.fingerprint,
    skills: parseSkills(row.skills),
    reason: row.reason,
    source: row.source,
    madeFor: row.made_for,
  }));

const parseSkills = (text: string): Assigned[] =>
  SkillsSchema.parse(JSON.parse(text)).map(([id, confidence]) => ({ id, confidence }));

const skillsText = (skills: readonly Assigned[]): string =>
  JSON.stringify(skills.map(({ id, confidence }) => [id, confidence]));

/** Lists the assignments of a server's tools. */
export async function listAssignments(db: D1Database, serverId: string): Promise<Assignment[]> {
  const { results } = await db
    .prepare(
      'SELECT tool, fingerprint, skills, reason, source, made_for FROM tool_skills WHERE server_id = ?',
    )
    .bind(serverId)
    .all();
  return results.map(row => RowSchema.parse(row));
}

/** Loads the skills of several servers' tools, by server id; a server without any has an empty entry. */
export async function loadServerSkills(
  db: D1Database,
  serverIds: readonly string[],
): Promise<Map<string, ServerSkills>> {
  const rows = await db
    .prepare(
      'SELECT server_id, tool, skills, source, reason FROM tool_skills WHERE server_id IN (SELECT value FROM json_each(?))',
    )
    .bind(JSON.stringify(serverIds))
    .raw<[serverId: string, tool: string, ...StoredSkills]>();
  const found = new Map(serverIds.map(id => [id, new Map<string, StoredSkills>()]));
  for (const [serverId, tool, ...stored] of rows) {
    found.get(serverId)?.set(JSON.parse(tool) as string, stored);
  }
  return new Map([...found].map(([id, tools]) => [id, toServerSkills(tools)]));
}

/** Skills as stored, with source and reason. */
type StoredSkills = [skills: string, source: Source, reason: string | null];

/** Parses the skills of a tool when it is first looked up, since most of a server's tools never are. */
function toServerSkills(stored: ReadonlyMap<string, StoredSkills>): ServerSkills {
  const read = new Map<string, ToolSkills>();
  return {
    get(tool) {
      const row = stored.get(tool);
      if (!row) return undefined;
      let skills = read.get(tool);
      if (!skills) read.set(tool, (skills = toToolSkills(parseSkills(row[0]), row[1], row[2])));
      return skills;
    },
  };
}

/** Increments the server's revision: the last statement of every write to its rows. Returns a row for {@link parseTouched}. */
export function touchServerSkills(db: D1Database, serverId: string): D1PreparedStatement {
  return db
    .prepare(
      'UPDATE servers SET skills_revision = skills_revision + 1 WHERE id = ? RETURNING skills_revision AS revision',
    )
    .bind(serverId);
}

/** Returns the revision after a write; undefined where the server no longer exists. */
export function parseTouched(rows: readonly unknown[]): number | undefined {
  return z.array(z.object({ revision: z.number() })).parse(rows)[0]?.revision;
}

/** Writes a classifier's results. Corrections by hand stay, and nothing is written for a server that no longer exists. */
export function writeAssignments(
  db: D1Database,
  serverId: string,
  assignments: readonly Assignment[],
  now: number,
): D1PreparedStatement[] {
  const upsert = db.prepare(
    `INSERT INTO tool_skills (server_id, changed_at, tool, fingerprint, skills, is_classified, reason, source, made_for)
     SELECT ?1, ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
     FROM json_each(?3) WHERE EXISTS (SELECT 1 FROM servers WHERE id = ?1)
     ON CONFLICT (server_id, tool) DO UPDATE SET fingerprint = excluded.fingerprint, skills = excluded.skills,
       is_classified = excluded.is_classified, reason = excluded.reason, source = excluded.source,
       made_for = excluded.made_for, changed_at = excluded.changed_at
     WHERE tool_skills.source <> 'hand'`,
  );
  return toChunks(assignments.map(toCells)).map(chunk =>
    upsert.bind(serverId, now, `[${chunk.join(',')}]`),
  );
}

/** Deletes tools that the server no longer has; a correction is kept in case the tool comes back. */
export function forgetAssignments(
  db: D1Database,
  serverId: string,
  tools: readonly string[],
): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM tool_skills WHERE server_id = ? AND source <> 'hand' AND tool IN (SELECT value FROM json_each(?))`,
    )
    .bind(serverId, JSON.stringify(tools.map(tool => JSON.stringify(tool))));
}

/** Assigns skills to a tool by hand, where the condition holds. */
export function correctAssignment(
  db: D1Database,
  serverId: string,
  { tool, fingerprint, skills }: Pick<Assignment, 'tool' | 'fingerprint' | 'skills'>,
  when: Condition,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO tool_skills (server_id, tool, fingerprint, skills, is_classified, reason, source, made_for, changed_at)
       SELECT ?, ?, ?, ?, 1, NULL, 'hand', '', ? WHERE ${when.sql}
       ON CONFLICT (server_id, tool) DO UPDATE SET fingerprint = excluded.fingerprint, skills = excluded.skills,
         is_classified = 1, reason = NULL, source = 'hand', made_for = '', changed_at = excluded.changed_at`,
    )
    .bind(serverId, JSON.stringify(tool), fingerprint, skillsText(skills), now, ...when.params);
}

/** Holds where the tool was corrected by hand. */
export function whenCorrected(serverId: string, tool: string): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM tool_skills WHERE server_id = ? AND tool = ? AND source = 'hand')`,
    params: [serverId, JSON.stringify(tool)],
  };
}

/** Deletes a correction, so that the tool is classified again. */
export function withdrawCorrection(
  db: D1Database,
  serverId: string,
  tool: string,
): D1PreparedStatement {
  return db
    .prepare(`DELETE FROM tool_skills WHERE server_id = ? AND tool = ? AND source = 'hand'`)
    .bind(serverId, JSON.stringify(tool));
}

/** Marks all of a server's tools that were not corrected by hand for classification. */
export function renewAssignments(db: D1Database, serverId: string): D1PreparedStatement {
  return db
    .prepare(`UPDATE tool_skills SET made_for = '' WHERE server_id = ? AND source <> 'hand'`)
    .bind(serverId);
}

const toCells = ({ tool, fingerprint, skills, reason, source, madeFor }: Assignment): string =>
  JSON.stringify([
    JSON.stringify(tool),
    fingerprint,
    skillsText(skills),
    skills.length > 0 ? 1 : 0,
    reason,
    source,
    madeFor,
  ]);
