/**
 * Access to the D1 of an instance beside the gateway, for migrations, tests and benches. It goes over a loopback socket of a Worker that
 * has only the database binding and requires a key. Miniflare's own access to a database would block this thread until workerd answers, and
 * start a second thread for that.
 */
import { randomBytes } from 'node:crypto';
import type { Miniflare, V4WorkerOptions } from 'miniflare';
import type { Database, DatabaseStatement } from './migrations.ts';
import { LOOPBACK } from './ports.ts';
import type { WorkerConfig } from './worker-config.ts';

const NAME = 'database';
const KEY_HEADER = 'portico-database-key';
/** Runs a list of statements in one transaction; an error of the database is returned as text with status 400. */
const SCRIPT = `export default {
  async fetch(request, { DB, KEY }) {
    if (request.headers.get('${KEY_HEADER}') !== KEY) return new Response(null, { status: 404 });
    const asked = await request.json();
    try {
      return Response.json(await DB.batch(asked.map(({ sql, values }) => DB.prepare(sql).bind(...values))));
    } catch (error) {
      return new Response(error.message, { status: 400 });
    }
  },
};`;

interface Statement extends DatabaseStatement {
  sql: string;
  values: unknown[];
}

/** Returns the Worker to start in the instance, and a function that opens the database once the instance serves. */
export function databaseWorker(config: WorkerConfig): {
  worker: V4WorkerOptions;
  open(instance: Miniflare): Promise<Database>;
} {
  const key = randomBytes(32).toString('base64url');
  return {
    worker: {
      name: NAME,
      modules: true,
      script: SCRIPT,
      compatibilityDate: config.compatibilityDate,
      bindings: { KEY: key },
      d1Databases: config.databases,
      unsafeDirectSockets: [{ host: LOOPBACK, port: 0 }],
      unsafeRegisterWorker: false,
    },
    open: async instance => toDatabase((await instance.unsafeGetDirectURL(NAME)).origin, key),
  };
}

function toDatabase(origin: string, key: string): Database {
  /** @throws Error with the database's message */
  async function run(statements: readonly DatabaseStatement[]): Promise<{ results: unknown[] }[]> {
    const response = await fetch(origin, {
      method: 'POST',
      headers: { [KEY_HEADER]: key },
      body: JSON.stringify(statements),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { results: unknown[] }[];
  }
  const prepare = (sql: string, values: unknown[] = []): Statement => ({
    sql,
    values,
    bind: (...bound) => prepare(sql, bound),
    async all<Row>() {
      const [answer] = await run([prepare(sql, values)]);
      return { results: (answer?.results ?? []) as Row[] };
    },
  });
  return { prepare: sql => prepare(sql), batch: run };
}
