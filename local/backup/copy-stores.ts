/**
 * Copies the stores of a data folder, even while a gateway uses them. SQLite itself copies each database, as of one moment. The order is
 * such that a later store may know more than an earlier one, but never less: first the objects, then the database with the chain of calls,
 * then the catalogs that its rows name.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LONGEST_GATHER_MS } from '../settings.ts';
import { StartError } from '../start-error.ts';

const OBJECTS = 'storage/do';
const DATABASE = 'storage/d1';
const CATALOGS = 'storage/kv';
/** Lists the demo servers; exists only if the folder has some. */
const DEMO = 'demo.json';
/** Calls that were answered before a copy began are in the database after this time, in milliseconds. */
const HANDED_OVER_MS = LONGEST_GATHER_MS + 1_500;
/** Longest wait for a database that another process is writing, in milliseconds. */
const BUSY_MS = 10_000;
/** Tries of copying the catalogs: if a catalog is replaced meanwhile, all of them are copied again. */
const CATALOG_TRIES = 3;

/**
 * @param from the data folder
 * @param to an empty folder
 * @param isRunning whether a gateway uses the folder
 * @returns the number of databases copied
 * @throws StartError if there is nothing to copy, or a store cannot be read
 */
export async function copyStores(from: string, to: string, isRunning: boolean): Promise<number> {
  const databases = await filesIn(join(from, DATABASE), '.sqlite');
  if (databases.length === 0) throw new StartError(`There is no gateway data in ${from}`);
  await mkdir(to, { recursive: true, mode: 0o700 });
  if (existsSync(join(from, DEMO))) await copyFile(join(from, DEMO), join(to, DEMO));
  const startedAt = Date.now();
  const objects = await filesIn(join(from, OBJECTS), '.sqlite');
  let copied = 0;
  for (const file of objects) copied += await copyDatabase(from, to, file);
  if (isRunning) await sleep(Math.max(0, HANDED_OVER_MS - (Date.now() - startedAt)));
  for (const file of databases) copied += await copyDatabase(from, to, file);
  for (let tries = CATALOG_TRIES; ; tries -= 1) {
    const catalogs = await copyCatalogs(from, to);
    if (catalogs !== undefined) return copied + catalogs;
    if (tries === 1) throw new StartError('The catalogs change too fast to be copied; try again');
  }
}

/** Returns the absolute paths of the files below a folder whose names end with `end`; none if the folder does not exist. */
async function filesIn(folder: string, end: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter(entry => entry.isFile() && entry.name.endsWith(end))
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
}

/** @returns 1, or 0 if the file is gone because its object was emptied */
async function copyDatabase(from: string, to: string, file: string): Promise<number> {
  const target = join(to, relative(from, file));
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file, { readOnly: true });
  } catch (error) {
    if (existsSync(file)) throw unreadable(file, error);
    return 0;
  }
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    database.prepare('VACUUM INTO ?').run(target);
    return 1;
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    database.close();
  }
}

/** Copies the index first, then the blobs it names. @returns undefined if a blob was replaced meanwhile */
async function copyCatalogs(from: string, to: string): Promise<number | undefined> {
  await rm(join(to, CATALOGS), { recursive: true, force: true });
  const indexes = await filesIn(join(from, CATALOGS), '.sqlite');
  let copied = 0;
  for (const file of indexes) copied += await copyDatabase(from, to, file);
  const blobs = await filesIn(join(from, CATALOGS), '');
  for (const file of blobs.filter(path => basename(dirname(path)) === 'blobs')) {
    const target = join(to, relative(from, file));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    // The check below finds the blob missing if it was replaced.
    await copyFile(file, target).catch(() => undefined);
  }
  const there = new Set((await filesIn(join(to, CATALOGS), '')).map(file => basename(file)));
  const named = indexes.flatMap(file => blobsOf(join(to, relative(from, file))));
  return named.every(blob => there.has(blob)) ? copied : undefined;
}

/** Returns the names of the blobs in a copied index; none if it is another kind of database. */
function blobsOf(index: string): string[] {
  const database = new DatabaseSync(index, { readOnly: true });
  try {
    const has = database.prepare("SELECT 1 FROM sqlite_master WHERE name = '_mf_entries'").get();
    const rows = has ? database.prepare('SELECT blob_id FROM _mf_entries').all() : [];
    return rows.map(row => String(row['blob_id']));
  } finally {
    database.close();
  }
}

function unreadable(file: string, error: unknown): StartError {
  const reason = error instanceof Error ? error.message : String(error);
  return new StartError(`${file} cannot be copied: ${reason}`);
}
