/** Splitting SQL into statements, and applying migrations to a real SQLite: in order, once, completely or not at all. */
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { applyMigrations, readMigrations, splitStatements } from '../../../local/migrations.ts';
import type { Database, DatabaseStatement } from '../../../local/migrations.ts';

const FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));

interface SqliteStatement extends DatabaseStatement {
  run(): void;
}

/** The part of D1 that is used here, on the SQLite of Node: a batch is a transaction. */
function openDatabase(): Database & { sqlite: DatabaseSync } {
  const sqlite = new DatabaseSync(':memory:');
  const prepare = (sql: string, values: unknown[] = []): SqliteStatement => ({
    bind: (...bound) => prepare(sql, bound),
    run: () => void sqlite.prepare(sql).run(...(values as string[])),
    all: async <Row>() => ({ results: sqlite.prepare(sql).all() as Row[] }),
  });
  return {
    sqlite,
    prepare,
    async batch(statements) {
      sqlite.exec('BEGIN');
      try {
        for (const statement of statements as SqliteStatement[]) statement.run();
        sqlite.exec('COMMIT');
      } catch (error) {
        sqlite.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

it.each([
  ['two statements', 'SELECT 1; SELECT 2;', ['SELECT 1', 'SELECT 2']],
  ['no last semicolon', 'SELECT 1;\n\nSELECT 2\n', ['SELECT 1', 'SELECT 2']],
  ['a semicolon in a text', "SELECT 'a;''b;'; SELECT 2", ["SELECT 'a;''b;'", 'SELECT 2']],
  ['a semicolon in names', 'SELECT "a;b", `c;d`, [e;f];', ['SELECT "a;b", `c;d`, [e;f]']],
  ['comments', '-- a; b\nSELECT 1 /* ; */;\n-- the end;\n', ['-- a; b\nSELECT 1 /* ; */']],
  ['nothing', ' -- only; this\n ; /* ; */ ;', []],
  [
    'CASE outside of a trigger',
    'SELECT CASE WHEN 1 THEN 2 END; SELECT 3;',
    ['SELECT CASE WHEN 1 THEN 2 END', 'SELECT 3'],
  ],
  [
    'a trigger',
    'CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM b; END; SELECT 1;',
    [
      'CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM b; END',
      'SELECT 1',
    ],
  ],
  [
    'a temporary trigger in small letters',
    'create temp trigger if not exists t after update on a begin select 1; end; select 2',
    ['create temp trigger if not exists t after update on a begin select 1; end', 'select 2'],
  ],
])('splits SQL with %s', (_, sql, statements) => {
  expect(splitStatements(sql)).toEqual(statements);
});

it('[OPS-3] applies the migrations of this project once', async () => {
  const database = openDatabase();
  const migrations = await readMigrations(FOLDER);
  const names = migrations.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(await applyMigrations(database, migrations)).toEqual(names);
  expect(await applyMigrations(database, migrations)).toEqual([]);
  const { results } = await database.prepare('SELECT name FROM d1_migrations').all();
  expect(results).toEqual(names.map(name => ({ name })));
});

it('applies only new migrations, each file completely or not at all', async () => {
  const database = openDatabase();
  const first = { name: '1.sql', sql: 'CREATE TABLE a (x)' };
  const broken = { name: '2.sql', sql: 'CREATE TABLE b (x); INSERT INTO missing VALUES (1)' };
  await applyMigrations(database, [first]);
  await expect(applyMigrations(database, [first, broken])).rejects.toThrow('missing');
  expect(() => database.sqlite.prepare('SELECT * FROM b')).toThrow('no such table');
  const repaired = { name: '2.sql', sql: 'CREATE TABLE b (x)' };
  expect(await applyMigrations(database, [first, repaired])).toEqual(['2.sql']);
});

it('[OPS-4] accepts a newer database, unless something it needs was removed', async () => {
  const database = openDatabase();
  const [first, adds] = ['0001_a.sql', '0002_b.sql'].map(name => ({
    name,
    sql: `CREATE TABLE "${name}" (x)`,
  }));
  if (!first || !adds) throw new Error('no migrations');
  const takesAway = { name: '0003_contract_0002_a.sql', sql: 'DROP TABLE "0001_a.sql"' };
  await applyMigrations(database, [first, adds]);
  expect(await applyMigrations(database, [first])).toEqual([]);
  await applyMigrations(database, [first, adds, takesAway]);
  expect(await applyMigrations(database, [first, adds])).toEqual([]);
  await expect(applyMigrations(database, [first])).rejects.toThrow(takesAway.name);
});
