/** Bindings that count what is asked of them, and that can fall silent: from then on nothing they are asked is ever answered. */
import { env } from 'cloudflare:workers';

/** What was asked of stores and objects, in order: `DB.batch`, `CATALOG.get`, `AUDIT_LOG.begin`. */
export interface Remote {
  bindings: Pick<
    Env,
    'DB' | 'CATALOG' | 'AUDIT_LOG' | 'CALL_CHAIN' | 'CLIENT_SESSION' | 'SERVER_MONITOR'
  >;
  asked: string[];
  setSilent(isSilent: boolean): void;
}

const OBJECTS = ['AUDIT_LOG', 'CALL_CHAIN', 'CLIENT_SESSION', 'SERVER_MONITOR'] as const;
/** Of a statement, that and only that goes to the database. */
const TRIPS = new Set(['run', 'all', 'raw', 'first']);

export function createRemote(): Remote {
  const asked: string[] = [];
  let isSilent = false;
  const ask = <T>(name: string, act: () => T): T | Promise<never> => {
    asked.push(name);
    return isSilent ? new Promise<never>(() => {}) : act();
  };

  /** @param isAsked which of its members are a way to what is far */
  const watch = <T extends object>(
    name: string,
    real: T,
    isAsked: (member: string) => boolean,
    wrap: (member: string, value: unknown) => unknown = (_, value) => value,
  ): T =>
    new Proxy(real, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member);
        if (typeof member !== 'string' || typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          const act = () => wrap(member, Reflect.apply(value, target, given));
          return isAsked(member) ? ask(`${name}.${member}`, act) : act();
        };
      },
    });

  const watchStatement = (statement: D1PreparedStatement): D1PreparedStatement =>
    watch(
      'DB',
      statement,
      member => TRIPS.has(member),
      (member, value) => (member === 'bind' ? watchStatement(value as D1PreparedStatement) : value),
    );
  // A batch takes the real statements, which a proxy is not.
  const real = new WeakMap<object, D1PreparedStatement>();
  const prepare = (statement: D1PreparedStatement): D1PreparedStatement => {
    const watched = watchStatement(statement);
    real.set(watched, statement);
    return watched;
  };
  const DB = new Proxy(env.DB, {
    get(target, member) {
      if (member === 'prepare') return (sql: string) => prepareBound(target.prepare(sql));
      if (member === 'batch') {
        return (statements: D1PreparedStatement[]) =>
          ask('DB.batch', () => target.batch(statements.map(each => real.get(each) ?? each)));
      }
      const value: unknown = Reflect.get(target, member);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const prepareBound = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(prepare(statement), {
      get(watched, member) {
        if (member !== 'bind') return Reflect.get(watched, member);
        return (...values: unknown[]) => prepare(statement.bind(...values));
      },
    });

  const objects = Object.fromEntries(
    OBJECTS.map(name => {
      const stub = (_: string, value: unknown) =>
        watch(name, value as object, member => member !== 'then');
      return [name, watch(name, env[name] as object, () => false, stub)];
    }),
  );
  return {
    asked,
    setSilent: silent => (isSilent = silent),
    bindings: {
      DB,
      CATALOG: watch('CATALOG', env.CATALOG, () => true),
      ...(objects as unknown as Omit<Remote['bindings'], 'DB' | 'CATALOG'>),
    },
  };
}
