/** Bindings that are counted and far away: the database, KV, and objects as a Worker or another object calls them. */
import { add, travel } from './ledger.ts';

const OBJECTS: Record<string, string> = {
  CLIENT_SESSION: 'ClientSession',
  SERVER_MONITOR: 'ServerMonitor',
  ACCESS_CHANGES: 'AccessChanges',
  AUDIT_LOG: 'AuditLog',
  CALL_CHAIN: 'CallChain',
  CONNECTOR: 'Connector',
  RESULT_CACHE: 'ResultCache',
};

type Meta = { meta?: { rows_read?: number; rows_written?: number } };

function note<T>(result: T): T {
  const { meta } = result as Meta;
  add('d1.rowsRead', meta?.rows_read ?? 0);
  add('d1.rowsWritten', meta?.rows_written ?? 0);
  return result;
}

function trip<T>(act: () => Promise<T>): Promise<T> {
  add('d1.trips');
  return travel('d1', act);
}

/** The real statement behind each that is metered: a batch takes real ones. */
const real = new WeakMap<object, D1PreparedStatement>();

function meterStatement(statement: D1PreparedStatement): D1PreparedStatement {
  const metered = {
    bind: (...values: unknown[]) => meterStatement(statement.bind(...values)),
    run: () => trip(async () => note(await statement.run())),
    all: () => trip(async () => note(await statement.all())),
    raw: (options: never) => trip(() => statement.raw(options)),
    first: (column?: string) =>
      trip(async () => {
        const [row] = note(await statement.all<Record<string, unknown>>()).results;
        if (row === undefined) return null;
        return column === undefined ? row : row[column];
      }),
  } as unknown as D1PreparedStatement;
  real.set(metered, statement);
  return metered;
}

function meterDatabase(db: D1Database): D1Database {
  return {
    prepare: (sql: string) => meterStatement(db.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) =>
      trip(async () => {
        const results = await db.batch(statements.map(each => real.get(each) ?? each));
        results.forEach(note);
        return results;
      }),
    exec: (sql: string) => trip(() => db.exec(sql)),
  } as unknown as D1Database;
}

/** @param on told of each function that is called */
function watchCalls<T extends object>(
  target: T,
  on: (name: string, act: () => unknown) => unknown,
): T {
  return new Proxy(target, {
    get(_, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function' || typeof member !== 'string' || member === 'then')
        return value;
      return (...given: unknown[]) => on(member, () => Reflect.apply(value, target, given));
    },
  });
}

function meterKv(kv: KVNamespace): KVNamespace {
  return watchCalls(kv, (name, act) => {
    add(name === 'put' || name === 'delete' ? 'kv.writes' : 'kv.reads');
    return travel('kv', act);
  });
}

function meterObjects<T extends object>(objects: T, type: string): T {
  return watchCalls(objects, (name, act) => {
    const made = act();
    if (name !== 'get' && name !== 'getByName') return made;
    return watchCalls(made as object, (_, call) => {
      add(`${type}.requests`);
      return travel('object', call);
    });
  });
}

const metered = new WeakMap<Env, Env>();

/** The same bindings, metered; one object for each environment, by which the application is remembered. */
export function meterEnv(env: Env): Env {
  const known = metered.get(env);
  if (known) return known;
  const bindings = env as unknown as Record<string, object>;
  const objects = Object.entries(OBJECTS).flatMap(([binding, type]) => {
    const found = bindings[binding];
    return found ? [[binding, meterObjects(found, type)] as const] : [];
  });
  const made = {
    ...env,
    DB: meterDatabase(env.DB),
    CATALOG: meterKv(env.CATALOG),
    ...Object.fromEntries(objects),
  } as Env;
  metered.set(env, made);
  return made;
}
