/** The base class of the objects, instead of the platform's: counts their writes and how long they are awake. */
import { DurableObject as PlatformObject } from 'cloudflare:workers';
import { LEDGER } from './ledger.ts';
import { meterEnv } from './metered-env.ts';

const watched = new WeakSet<object>();

function meterSql(sql: SqlStorage, type: string): SqlStorage {
  return new Proxy(sql, {
    get(_, member) {
      const value: unknown = Reflect.get(sql, member);
      if (typeof value !== 'function') return value;
      if (member !== 'exec') return value.bind(sql);
      return (query: string, ...bindings: unknown[]) => {
        const cursor = sql.exec(query, ...bindings);
        // A cursor has its counts only after it was read.
        queueMicrotask(() => {
          LEDGER.add(`${type}.rowsRead`, cursor.rowsRead);
          LEDGER.add(`${type}.rowsWritten`, cursor.rowsWritten);
        });
        return cursor;
      };
    },
  });
}

/** Billed rows that a storage method writes. */
function writtenBy(name: string, [first]: unknown[]): number {
  if (name === 'setAlarm') return 1;
  if (name === 'delete') return Array.isArray(first) ? first.length : 1;
  if (name !== 'put') return 0;
  return typeof first === 'object' && first !== null ? Object.keys(first).length : 1;
}

function meterStorage(storage: DurableObjectStorage, type: string): DurableObjectStorage {
  const sql = meterSql(storage.sql, type);
  return new Proxy(storage, {
    get(_, member) {
      if (member === 'sql') return sql;
      const value: unknown = Reflect.get(storage, member);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        LEDGER.add(`${type}.rowsWritten`, writtenBy(String(member), given));
        return Reflect.apply(value, storage, given);
      };
    },
  });
}

/** Makes every method of a class count the time the object is awake; alarms and messages count as requests too. */
function watchClass(prototype: Record<string, unknown>, type: string): void {
  if (watched.has(prototype)) return;
  watched.add(prototype);
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
    if (name === 'constructor' || typeof value !== 'function') continue;
    prototype[name] = function (this: { ctx: DurableObjectState }, ...given: unknown[]) {
      if (name === 'alarm') LEDGER.add(`${type}.requests`);
      // Twenty WebSocket messages are billed as one request.
      if (name === 'webSocketMessage') LEDGER.add(`${type}.requests`, 1 / 20);
      return LEDGER.whileAwake(`${type} ${this.ctx.id}`, type, () =>
        Reflect.apply(value, this, given),
      );
    };
  }
}

export class DurableObject extends PlatformObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const type = new.target.name.replace(/^_+/, '').replace(/\d+$/, '');
    watchClass(new.target.prototype as unknown as Record<string, unknown>, type);
    const storage = meterStorage(ctx.storage, type);
    const own = new Proxy(ctx, {
      get(_, member) {
        if (member === 'storage') return storage;
        const value: unknown = Reflect.get(ctx, member);
        return typeof value === 'function' ? value.bind(ctx) : value;
      },
    });
    Object.defineProperty(this, 'ctx', { value: own });
    Object.defineProperty(this, 'env', { value: meterEnv(env, LEDGER) });
  }
}
