/** What is in the database, for tests that nothing was written, or nothing plain. */
import { env } from 'cloudflare:workers';

const TABLES = [
  'servers',
  'secrets',
  'access_tokens',
  'principals',
  'tokens',
  'access_rules',
  'toolsets',
  'sessions',
];

/** Every row of every table of ours, as text; when a token was last used is no change. */
export async function dumpDatabase(): Promise<string> {
  const dumps = await env.DB.batch(TABLES.map(table => env.DB.prepare(`SELECT * FROM ${table}`)));
  const rows = dumps.map(({ results }) => results);
  return JSON.stringify(rows, (key, value: unknown) =>
    key === 'last_used_at' ? undefined : value,
  );
}
