/** What is in the database, for tests that nothing was written, or nothing plain. */
import { env } from 'cloudflare:workers';

const TABLES = ['servers', 'principals', 'tokens', 'sessions'];

/** Every row of every table of ours, as text. */
export async function dumpDatabase(): Promise<string> {
  const dumps = await env.DB.batch(TABLES.map(table => env.DB.prepare(`SELECT * FROM ${table}`)));
  return JSON.stringify(dumps.map(({ results }) => results));
}
