/**
 * Applies `migrations/*.sql` to a local D1, in order of their names, each file whole or not at all. Records them in wrangler's table
 * (`d1_migrations`), so that both can work on one database. A database with unknown newer migrations is accepted, unless one of them
 * removed something this checkout needs (docs/decisions/0043-one-version-apart.md).
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from './start-error.ts';

/** The part of D1 that is used here. */
export interface Database {
  prepare(sql: string): DatabaseStatement;
  batch(statements: DatabaseStatement[]): Promise<unknown>;
}

export interface DatabaseStatement {
  bind(...values: unknown[]): DatabaseStatement;
  all<Row>(): Promise<{ results: Row[] }>;
}

export interface Migration {
  /** File name, as wrangler records it. */
  name: string;
  sql: string;
}

const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Reads the migrations of a folder, in order. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter(file => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async name => ({ name, sql: await readFile(join(folder, name), 'utf8') })),
  );
}

/**
 * Applies the migrations that the database does not have yet.
 * @returns the names of those applied
 * @throws StartError if the database lacks what this version needs, see {@link findTooNew}
 */
export async function applyMigrations(
  database: Database,
  migrations: readonly Migration[],
): Promise<string[]> {
  await database.batch([database.prepare(BOOKKEEPING)]);
  const { results } = await database
    .prepare('SELECT name FROM d1_migrations ORDER BY id')
    .all<{ name: string }>();
  const applied = new Set(results.map(row => row.name));
  const tooNew = findTooNew(
    applied,
    migrations.map(({ name }) => name),
  );
  if (tooNew !== undefined) {
    throw new StartError(
      `The data folder is too new for this Portico: the migration ${tooNew} removed what this version needs. Start a newer version.`,
    );
  }
  const pending = migrations.filter(migration => !applied.has(migration.name));
  for (const { name, sql } of pending) {
    const statements = splitStatements(sql).map(statement => database.prepare(statement));
    const record = database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name);
    await database.batch([...statements, record]);
  }
  return pending.map(migration => migration.name);
}

/** The name of a contraction: a migration that removes what an earlier one, given by the second number, replaced. */
export const CONTRACTION = /^\d{4}_contract_(\d{4})_/;

/**
 * Returns the first applied migration that makes a database unusable for code that knows only `known`; undefined if none does. An unknown
 * migration only adds, unless it is a contraction. Code that knows the migration named by a contraction's second number no longer needs
 * what the contraction removed.
 */
export function findTooNew(
  applied: Iterable<string>,
  known: readonly string[],
): string | undefined {
  return [...applied].find(name => {
    const replacedBy = CONTRACTION.exec(name)?.[1];
    if (replacedBy === undefined || known.includes(name)) return false;
    return !known.some(each => each.startsWith(`${replacedBy}_`));
  });
}

/** Strings, quoted names, comments, words and semicolons. Everything between them is left as it is. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_]\w*|;/g;
const TRIGGER = /^CREATE (?:TEMP |TEMPORARY )?TRIGGER\b/;

/** Splits SQL into statements. The body of a trigger (BEGIN … END, with CASE … END in it) stays in one piece. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let words = '';
  let depth = 0;
  const finish = (end: number): void => {
    if (words !== '') statements.push(sql.slice(start, end).trim());
    start = end + 1;
    words = '';
  };
  for (const { 0: token, index } of sql.matchAll(TOKEN)) {
    if (token === ';') {
      if (depth === 0) finish(index);
    } else if (/^[A-Za-z_]/.test(token)) {
      const word = token.toUpperCase();
      words = `${words} ${word}`.trimStart().slice(0, 40);
      if (!TRIGGER.test(words)) continue;
      if (word === 'BEGIN' || word === 'CASE') depth += 1;
      else if (word === 'END') depth -= 1;
    }
  }
  finish(sql.length);
  return statements;
}
