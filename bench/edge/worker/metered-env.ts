/** Bindings with meters and distances: the database, KV, and objects as called by a Worker or another object. */
import { keepValues } from './kept-kv.ts';
import type { Ledger } from './ledger.ts';

const OBJECTS: Record<string, string> = {
  CLIENT_SESSION: 'ClientSession',
  SERVER_MONITOR: 'ServerMonitor',
  ACCESS_CHANGES: 'AccessChanges',
  AUDIT_LOG: 'AuditLog',
  CALL_CHAIN: 'CallChain',
  CONNECTOR: 'Connector',
  RESULT_CACHE: 'ResultCache',
  WEBHOOKS: 'Webhooks',
};

type Meta = { meta?: { rows_read?: number; rows_written?: number } };

/** Trips to the database. */
class Trips {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  note<T>(result: T): T {
    const { meta } = result as Meta;
    this.#ledger.add('d1.rowsRead', meta?.rows_read ?? 0);
    this.#ledger.add('d1.rowsWritten', meta?.rows_written ?? 0);
    return result;
  }

  make<T>(name: string, act: () => Promise<T>): Promise<T> {
    this.#ledger.add('d1.trips');
    return this.#ledger.travel('d1', `DB.${name}`, act);
  }
}

/** The real statement of each metered one: a batch needs the real ones. */
const real = new WeakMap<object, D1PreparedStatement>();

function meterStatement(statement: D1PreparedStatement, trips: Trips): D1PreparedStatement {
  const metered = {
    bind: (...values: unknown[]) => meterStatement(statement.bind(...values), trips),
    run: () => trips.make('run', async () => trips.note(await statement.run())),
    all: () => trips.make('all', async () => trips.note(await statement.all())),
    raw: (options: never) => trips.make('raw', () => statement.raw(options)),
    first: (column?: string) =>
      trips.make('first', async () => {
        const [row] = trips.note(await statement.all<Record<string, unknown>>()).results;
        if (row === undefined) return null;
        return column === undefined ? row : row[column];
      }),
  } as unknown as D1PreparedStatement;
  real.set(metered, statement);
  return metered;
}

function meterDatabase(db: D1Database, trips: Trips): D1Database {
  return {
    prepare: (sql: string) => meterStatement(db.prepare(sql), trips),
    batch: (statements: D1PreparedStatement[]) =>
      trips.make('batch', async () => {
        const results = await db.batch(statements.map(each => real.get(each) ?? each));
        results.forEach(result => trips.note(result));
        return results;
      }),
    exec: (sql: string) => trips.make('exec', () => db.exec(sql)),
  } as unknown as D1Database;
}

/** @param on called for each method call */
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

function meterKv(kv: KVNamespace, ledger: Ledger): KVNamespace {
  return watchCalls(kv, (name, act) => {
    ledger.add(name === 'put' || name === 'delete' ? 'kv.writes' : 'kv.reads');
    return ledger.travel('kv', `CATALOG.${name}`, act);
  });
}

function meterObjects<T extends object>(objects: T, binding: string, ledger: Ledger): T {
  return watchCalls(objects, (name, act) => {
    const made = act();
    if (name !== 'get' && name !== 'getByName') return made;
    return watchCalls(made as object, (asked, call) => {
      ledger.add(`${OBJECTS[binding]}.requests`);
      return ledger.travel('object', `${binding}.${asked}`, call);
    });
  });
}

const metered = new WeakMap<Ledger, WeakMap<Env, Env>>();

/** Returns the bindings with meters; always the same object for an environment, since the application is cached by it. */
export function meterEnv(env: Env, ledger: Ledger): Env {
  const envs = metered.get(ledger) ?? new WeakMap<Env, Env>();
  metered.set(ledger, envs);
  const known = envs.get(env);
  if (known) return known;
  const bindings = env as unknown as Record<string, object>;
  const objects = Object.keys(OBJECTS).flatMap(binding => {
    const found = bindings[binding];
    return found ? [[binding, meterObjects(found, binding, ledger)] as const] : [];
  });
  const made = {
    ...env,
    DB: meterDatabase(env.DB, new Trips(ledger)),
    CATALOG: meterKv(keepValues(env.CATALOG, ledger), ledger),
    ...Object.fromEntries(objects),
  } as Env;
  envs.set(env, made);
  return made;
}
