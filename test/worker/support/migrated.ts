/**
 * The migrated schema. The migrations run once in each worker; every further test file gets what they resulted in, in one batch, which takes
 * a tenth of their time.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

interface Statement {
  sql: string;
  values: unknown[];
}

/** Outlives a test file, as the worker does. */
const kept = globalThis as { porticoSchema?: Statement[] };

/** Creates the schema in an empty database. */
export async function createSchema(): Promise<void> {
  if (kept.porticoSchema === undefined) {
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    kept.porticoSchema = await readSchema();
    return;
  }
  await env.DB.batch(
    kept.porticoSchema.map(({ sql, values }) => env.DB.prepare(sql).bind(...values)),
  );
}

/** Tables, their rows, and only then indexes and triggers, which the rows must not fire. */
async function readSchema(): Promise<Statement[]> {
  const { results: all } = await env.DB.prepare(
    `SELECT type, name, sql FROM sqlite_master
     WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf%' ESCAPE '\\'
     ORDER BY rowid`,
  ).all<{ type: string; name: string; sql: string }>();
  const tables = all.filter(({ type }) => type === 'table');
  const rest = all.filter(({ type }) => type !== 'table');
  const rows: Statement[] = [];
  for (const { name } of tables) {
    const { results } = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
    for (const row of results) {
      const columns = Object.keys(row).map(column => `"${column}"`);
      const places = columns.map(() => '?');
      const sql = `INSERT INTO "${name}" (${columns.join(', ')}) VALUES (${places.join(', ')})`;
      rows.push({ sql, values: Object.values(row) });
    }
  }
  const toStatement = ({ sql }: { sql: string }) => ({ sql, values: [] });
  return [...tables.map(toStatement), ...rows, ...rest.map(toStatement)];
}
