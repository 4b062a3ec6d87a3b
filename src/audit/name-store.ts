/**
 * Names for the ids in audit rows: the current name of a principal, token, server, toolset or connector, or, if it is
 * gone, the last name that its acts recorded. Only reads; the rows themselves hold ids, which never change.
 */
import { z } from 'zod';

const KINDS = ['principal', 'token', 'grant', 'server', 'toolset', 'connector'] as const;
export type NamedKind = (typeof KINDS)[number];

/** The acts whose rows record the name of their subject, by its kind. */
const namingActions = (kind: NamedKind) => [`${kind}.create`, `${kind}.update`, `${kind}.delete`];
const NAMING_ACTIONS = KINDS.flatMap(namingActions);

/** Rows of administration: the shards of `admin-audit.ts`. */
const OF_ADMIN = `shard >= 'admin' AND shard < 'admin:'`;
/** A row that was tampered with may not hold JSON. */
const RECORDED_NAME = `CASE WHEN json_valid(detail) THEN detail ->> '$.name' END`;

/** Names of grants are in the acts only: the client's name at that time. */
const isKept = (kind: NamedKind) => kind !== 'grant';
const tableOf = (kind: NamedKind) => `${kind}s`;

const NameSchema = z.object({ id: z.string(), name: z.string() });

/** Returns the names of these ids; ids that never had a name are absent. */
export async function findNames(
  db: D1Database,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const [recorded, ...now] = await db.batch([
    db
      .prepare(
        `SELECT subject AS id, ${RECORDED_NAME} AS name FROM audit_events
         WHERE subject IN (SELECT value FROM json_each(?1)) AND action IN (SELECT value FROM json_each(?2)) AND ${OF_ADMIN}
           AND outcome = 'done' AND typeof(${RECORDED_NAME}) = 'text' ORDER BY at, seq`,
      )
      .bind(JSON.stringify(ids), JSON.stringify(NAMING_ACTIONS)),
    ...KINDS.filter(isKept).map(kind =>
      db
        .prepare(
          `SELECT id, name FROM ${tableOf(kind)} WHERE id IN (SELECT value FROM json_each(?))`,
        )
        .bind(JSON.stringify(ids)),
    ),
  ]);
  // Current names come last, so that they override recorded ones.
  const rows = [recorded, ...now]
    .flatMap(read => read?.results ?? [])
    .map(row => NameSchema.parse(row));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns the ids of all records of some kinds that have a name, ignoring case, or had it when they were deleted. */
export async function findIdsNamed(
  db: D1Database,
  kinds: readonly NamedKind[],
  name: string,
): Promise<string[]> {
  const there = kinds
    .filter(isKept)
    .map(kind =>
      db.prepare(`SELECT id FROM ${tableOf(kind)} WHERE name = ? COLLATE NOCASE`).bind(name),
    );
  const gone = db
    .prepare(
      `SELECT DISTINCT subject AS id FROM audit_events
       WHERE ${OF_ADMIN} AND action IN (SELECT value FROM json_each(?1)) AND outcome = 'done' AND ${RECORDED_NAME} = ?2 COLLATE NOCASE`,
    )
    .bind(
      JSON.stringify(
        kinds.flatMap(kind => (isKept(kind) ? namingActions(kind).slice(-1) : namingActions(kind))),
      ),
      name,
    );
  const results = await db.batch([...there, gone]);
  const schema = z.object({ id: z.string() });
  return results.flatMap(({ results: rows }) => rows.map(row => schema.parse(row).id));
}
