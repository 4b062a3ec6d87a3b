/** The contents of the database, for tests that nothing was written, or nothing in plain text. */
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

/** Columns that change by themselves: when a token was last used, and how often a monitor wrote skills. */
const BY_ITSELF = ['last_used_at', 'skills_revision'];

/** Every row of every table of ours, as text, without columns that change by themselves. */
export async function dumpDatabase(): Promise<string> {
  const dumps = await env.DB.batch(TABLES.map(table => env.DB.prepare(`SELECT * FROM ${table}`)));
  const rows = dumps.map(({ results }) => results);
  return JSON.stringify(rows, (key, value: unknown) =>
    BY_ITSELF.includes(key) ? undefined : value,
  );
}

/** Longest value in a statement on Cloudflare, in bytes; the local database accepts more. */
const MAX_VALUE_BYTES = 2_000_000;

/** A database with Cloudflare's limit on values. */
export const withValueLimit = (db: D1Database): D1Database =>
  new Proxy(db, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name).bind(target) as unknown;
      return (sql: string) => {
        const statement = target.prepare(sql);
        const bind = statement.bind.bind(statement);
        statement.bind = (...values: unknown[]) => {
          const sizes = values.map(value => new TextEncoder().encode(String(value)).byteLength);
          if (Math.max(...sizes) > MAX_VALUE_BYTES) throw new Error('string or blob too big');
          return bind(...values);
        };
        return statement;
      };
    },
  });
