/**
 * kill -9 while a start migrates an old database: the next start finds each migration applied or not applied, applies the rest, and loses
 * no row. It is killed at steps visible from outside: rows of the migrations' table, and a log that grows during one.
 */
import { cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrateOnce } from '../../../local/host.ts';
import { readSourceFiles } from '../../../local/source-files.ts';
import { startMain, type MainProcess } from '../support/main-process.ts';

/** The last migration of the old database: the next ones index and copy the audit. */
const OLD = '0011_credentials.sql';
const BEFORE_COPY = '0014_pins.sql';
const ROWS = 60_000;
/** Only in the middle of the copy is the log this large. */
const GROWN_BYTES = 12_000_000;

let folder: string;
let old: string;
let names: string[];
/** The state of a database that was migrated without a kill. */
let whole: Seen;

interface Seen {
  migrations: string[];
  schema: string[];
  rows: number;
  sum: number;
  check: unknown;
}

async function fileOf(data: string): Promise<string> {
  const entries = await readdir(join(data, 'storage/d1'), { recursive: true, withFileTypes: true });
  const found = entries.find(
    ({ name }) => name.endsWith('.sqlite') && !name.startsWith('metadata'),
  );
  if (!found) throw new Error('no database');
  return join(found.parentPath, found.name);
}

const textsOf = (database: DatabaseSync, sql: string): string[] =>
  database
    .prepare(sql)
    .all()
    .map(row => Object.values(row).join(' '));

async function look(data: string): Promise<Seen> {
  const database = new DatabaseSync(await fileOf(data), { readOnly: true });
  try {
    const count = database.prepare('SELECT count(*) AS n, sum(seq) AS s FROM audit_events').get();
    return {
      migrations: textsOf(database, 'SELECT name FROM d1_migrations ORDER BY id'),
      schema: textsOf(database, 'SELECT type, name, sql FROM sqlite_master ORDER BY type, name'),
      rows: Number(count?.['n']),
      sum: Number(count?.['s']),
      check: database.prepare('PRAGMA integrity_check').get(),
    };
  } finally {
    database.close();
  }
}

/** Polls the database as fast as possible until it shows a certain moment. */
async function reach(data: string, is: (applied: string[], log: number) => boolean): Promise<void> {
  const file = await fileOf(data);
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const select = database.prepare('SELECT name FROM d1_migrations ORDER BY id');
    for (;;) {
      const applied = select.all().map(({ name }) => String(name));
      const log = await stat(`${file}-wal`).then(
        ({ size }) => size,
        () => 0,
      );
      if (is(applied, log)) return;
    }
  } finally {
    database.close();
  }
}

async function copyOld(name: string): Promise<string> {
  const data = join(folder, name);
  await cp(old, data, { recursive: true });
  return data;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-killed-starts-'));
  const { config, migrations } = await readSourceFiles();
  names = migrations.map(({ name }) => name);
  old = join(folder, 'old');
  const upTo = migrations.slice(0, names.indexOf(OLD) + 1);
  await migrateOnce(join(old, 'storage'), config, upTo);
  const database = new DatabaseSync(await fileOf(old));
  database.exec(`INSERT INTO audit_events
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    SELECT 'admin', i, 'id-' || i, i, 'principal-' || i % 100, 'token', 'server.update', 'server-' || i % 50,
      'done', NULL, hex(randomblob(100)), hex(randomblob(32)), hex(randomblob(32)) FROM n`);
  database.close();

  const unkilled = await startMain(await copyOld('unkilled'));
  await unkilled.ready();
  whole = await look(join(folder, 'unkilled'));
  unkilled.killAll();
  await unkilled.ended();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const inCopy = (applied: string[], log: number) =>
  log > GROWN_BYTES && applied.at(-1) === BEFORE_COPY;
const all = (main: MainProcess) => main.killAll();

const alone = (main: MainProcess) => main.killMain();
const isDone = (applied: string[]) => applied.length >= names.length;

it.each([
  ['in the middle of one that copies a table', inCopy, all, BEFORE_COPY],
  // The orphaned process may complete its migration.
  ['alone, in the middle of that', inCopy, alone, undefined],
  ['after the last', isDone, all, undefined],
])('[OPS-4] a start killed %s is followed by a complete one', async (what, is, kill, last) => {
  const data = await copyOld(what);
  const killed = await startMain(data);
  await reach(data, is);
  kill(killed);
  const { port, adminToken } = killed;
  await killed.ended();
  const left = (await look(data)).migrations.at(-1);
  expect(left).toBe(last ?? left);

  const next = await startMain(data, { port, adminToken });
  await next.ready();
  const seen = await look(data);
  next.killAll();
  await next.ended();
  expect(seen).toEqual(whole);
  expect([seen.migrations, seen.rows]).toEqual([names, ROWS]);
});
