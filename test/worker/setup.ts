/**
 * Gives every test file of the worker project empty storage, new objects, and a migrated D1: the files share a worker, which loads the
 * modules once.
 */
import { reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll } from 'vitest';
import { createSchema } from './support/migrated.ts';
import { settleAll } from './support/portico.ts';

const TABLES = "SELECT COUNT(*) FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
const TRIES = 20;

/**
 * Empties D1, KV and the objects. workerd's `reset` skips sleeping objects, and does not report storage that it could not empty because it
 * was still written to: so the objects are woken first, and checked afterwards.
 */
async function empty() {
  for (let i = 0; i < TRIES; i++) {
    await Promise.all([env.DB.exec('SELECT 1'), env.CATALOG.list({ limit: 1 })]);
    await reset();
    const [tables, { keys }] = await Promise.all([
      env.DB.prepare(TABLES).first<number>('COUNT(*)'),
      env.CATALOG.list({ limit: 1 }),
    ]);
    if (tables === 0 && keys.length === 0) return;
  }
  throw new Error('what the test file before kept could not be emptied');
}

await empty();
await createSchema();
afterAll(settleAll);
