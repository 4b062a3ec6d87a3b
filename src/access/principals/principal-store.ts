/** The `principals` table, and the groups it names. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { Group, Principal } from './principal-schema.ts';
import { ScopeSchema } from '../../shared/identity/token.ts';

const RowSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    groups: z.string(),
    scopes: z.string().nullable(),
    revision: z.number(),
    created_at: z.number(),
    updated_at: z.number().nullable(),
    token_count: z.number(),
  })
  .transform((row): Principal => ({
    id: row.id,
    name: row.name,
    groups: z.array(z.string()).parse(JSON.parse(row.groups)),
    scopes: row.scopes === null ? null : z.array(ScopeSchema).parse(JSON.parse(row.scopes)),
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    tokenCount: row.token_count,
  }));

const GroupRowSchema = z.object({ name: z.string(), members: z.number(), rules: z.number() });
const TotalSchema = z.object({ total: z.number() });

const SELECT_PRINCIPALS = `SELECT p.*, (SELECT count(*) FROM tokens
    WHERE principal_id = p.id AND former_of IS NULL) AS token_count FROM principals AS p`;

/** Which principals; what is absent lets every one through. */
export interface PrincipalFilter {
  /** A part of the name, without regard to case. */
  name?: string | undefined;
  group?: string | undefined;
}

/** Where a page of principals ended. */
export type PrincipalPosition = readonly [createdAt: number, id: string];

const MATCHES = `(?1 IS NULL OR instr(lower(p.name), lower(?1)) > 0)
  AND (?2 IS NULL OR EXISTS (SELECT 1 FROM json_each(p.groups) WHERE value = ?2))`;

/** One page of the principals, newest first, and how many match. */
export async function listPrincipals(
  db: D1Database,
  filter: PrincipalFilter,
  limit: number,
  after?: PrincipalPosition,
): Promise<ListPage<Principal> & { total: number }> {
  const [createdAt = null, id = null] = after ?? [];
  const params = [filter.name ?? null, filter.group ?? null];
  const [page, total] = await db.batch([
    db
      .prepare(
        `${SELECT_PRINCIPALS}
         WHERE ${MATCHES} AND (?3 IS NULL OR p.created_at < ?3 OR (p.created_at = ?3 AND p.id > ?4))
         ORDER BY p.created_at DESC, p.id LIMIT ?5`,
      )
      .bind(...params, createdAt, id, limit + 1),
    db.prepare(`SELECT count(*) AS total FROM principals AS p WHERE ${MATCHES}`).bind(...params),
  ]);
  const rows = (page?.results ?? []).map(row => RowSchema.parse(row));
  return {
    ...toListPage(rows, limit, principal => [principal.createdAt, principal.id]),
    total: TotalSchema.parse(total?.results[0]).total,
  };
}

/** One principal, or undefined. */
export async function findPrincipal(db: D1Database, id: string): Promise<Principal | undefined> {
  const row = await db.prepare(`${SELECT_PRINCIPALS} WHERE p.id = ?`).bind(id).first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** Those of the ids that no principal has. */
export async function findUnknownPrincipals(
  db: D1Database,
  ids: readonly string[],
): Promise<string[]> {
  const { results } = await db
    .prepare('SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM principals)')
    .bind(JSON.stringify(ids))
    .all();
  return results.map(row => z.object({ id: z.string() }).parse(row).id);
}

export function insertPrincipal(
  db: D1Database,
  { id, name, groups, scopes, createdAt }: Omit<Principal, 'tokenCount'>,
): D1PreparedStatement {
  return db
    .prepare('INSERT INTO principals (id, name, groups, scopes, created_at) VALUES (?, ?, ?, ?, ?)')
    .bind(id, name, JSON.stringify(groups), scopes && JSON.stringify(scopes), createdAt);
}

/** Write an edit over the revision it was made of. */
export function updatePrincipal(
  db: D1Database,
  { id, name, groups, scopes, revision, updatedAt }: Principal,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE principals SET name = ?, groups = ?, scopes = ?, updated_at = ?, revision = revision + 1
       WHERE id = ? AND revision = ?`,
    )
    .bind(name, JSON.stringify(groups), scopes && JSON.stringify(scopes), updatedAt, id, revision);
}

/** Delete a principal with its tokens and the rules that are for it alone. */
export function deletePrincipal(db: D1Database, id: string): D1PreparedStatement[] {
  return [
    'DELETE FROM tokens WHERE principal_id = ?',
    "DELETE FROM access_rules WHERE subject_kind = 'principal' AND subject = ?",
    'DELETE FROM principals WHERE id = ?',
  ].map(sql => db.prepare(sql).bind(id));
}

/** The principal exists. */
export function whenPrincipal(id: string): Condition {
  return { sql: 'EXISTS (SELECT 1 FROM principals WHERE id = ?)', params: [id] };
}

/** The principal is still at this revision. */
export function whenPrincipalUnchanged({ id, revision }: Principal): Condition {
  return {
    sql: 'EXISTS (SELECT 1 FROM principals WHERE id = ? AND revision = ?)',
    params: [id, revision],
  };
}

/** One page of the groups that members or rules name, in the order of their names. */
export async function listGroups(
  db: D1Database,
  limit: number,
  afterName?: string,
): Promise<ListPage<Group>> {
  const { results } = await db
    .prepare(
      `SELECT name, sum(members) AS members, sum(rules) AS rules FROM (
         SELECT g.value AS name, 1 AS members, 0 AS rules FROM principals AS p, json_each(p.groups) AS g
         UNION ALL SELECT subject, 0, 1 FROM access_rules WHERE subject_kind = 'group'
       ) WHERE ?1 IS NULL OR name > ?1 GROUP BY name ORDER BY name LIMIT ?2`,
    )
    .bind(afterName ?? null, limit + 1)
    .all();
  const groups = results.map(row => GroupRowSchema.parse(row));
  return toListPage(groups, limit, ({ name }) => [name]);
}
