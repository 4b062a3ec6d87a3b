/** The `principals` table, and the groups that it names. */
import { z } from 'zod';
import { ALWAYS } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import type { EditedTable } from '../../records/record-store.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { Subject } from '../policy/rule.ts';
import {
  GroupViewSchema,
  PrincipalSchema,
  type Group,
  type Principal,
} from './principal-schema.ts';

const CLAIMED_GROUPS = `(SELECT json_group_array(DISTINCT g.value) FROM identities AS i, json_each(i.groups) AS g
  WHERE i.principal_id = p.id AND i.expires_at > unixepoch('subsec') * 1000)`;
const toSource = (
  more: string,
  claimed: string,
) => `(SELECT p.*, ${claimed} AS claimed_groups, (SELECT count(*) FROM tokens
  WHERE principal_id = p.id AND former_of IS NULL ${more}) AS token_count FROM principals AS p)`;

export const PRINCIPALS: EditedTable<Principal> = {
  name: 'principals',
  source: toSource('AND grant_id IS NULL', CLAIMED_GROUPS),
  lastSource: toSource('', "'[]'"),
  row: PrincipalSchema,
  computed: ['token_count', 'claimed_groups'],
  edited: ['name', 'groups', 'scopes', 'updated_at'],
  /** Deletes with it its tokens, and the rules that are for it alone. */
  remove: (db, id) =>
    [
      'DELETE FROM tokens WHERE principal_id = ?',
      "DELETE FROM access_rules WHERE subject_kind = 'principal' AND subject = ?",
      'DELETE FROM principals WHERE id = ?',
    ].map(sql => db.prepare(sql).bind(id)),
};

/** Condition: the principal is in the group. */
export const whenInGroup = (group: string): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM json_each(groups) WHERE value = ? UNION SELECT 1 FROM json_each(claimed_groups) WHERE value = ?)',
  params: [group, group],
});

/** Condition: some of the subjects cover the principal. */
export function whenSubject(subjects: readonly Subject[]): Condition {
  const all = subjects.map((subject): Condition => {
    if (subject.kind === 'group') return whenInGroup(subject.name);
    return subject.kind === 'principal' ? { sql: 'id = ?', params: [subject.id] } : ALWAYS;
  });
  const sql = all.map(each => each.sql).join(' OR ');
  return { sql: `(${sql})`, params: all.flatMap(({ params }) => params) };
}

/** Returns those of the ids that no principal has. */
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

const CLAIMING = `UNION SELECT i.principal_id, g.value FROM identities AS i, json_each(i.groups) AS g
  WHERE i.expires_at > unixepoch('subsec') * 1000`;

/** Returns one page of the groups that members or rules name, sorted by name. */
export async function listGroups(
  db: D1Database,
  limit: number,
  afterName?: string,
): Promise<ListPage<Group>> {
  const { results } = await onEitherSchema(age =>
    db
      .prepare(
        `SELECT name, sum(members) AS members, sum(rules) AS rules FROM (
         SELECT value AS name, 1 AS members, 0 AS rules FROM (SELECT p.id, g.value FROM principals AS p, json_each(p.groups) AS g
           ${age === 'this' ? CLAIMING : ''})
         UNION ALL SELECT subject, 0, 1 FROM access_rules WHERE subject_kind = 'group'
       ) WHERE ?1 IS NULL OR name > ?1 GROUP BY name ORDER BY name LIMIT ?2`,
      )
      .bind(afterName ?? null, limit + 1)
      .all(),
  );
  const groups = results.map(row => GroupViewSchema.parse(row));
  return toListPage(groups, limit, ({ name }) => [name]);
}
