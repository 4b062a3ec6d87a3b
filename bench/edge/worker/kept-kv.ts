/**
 * A KV namespace that keeps values in memory after the first read, so that a read takes only its set distance: the local emulation takes
 * half a millisecond and more for each of a hundred keys, in the Worker's own process. Values never change, as in the gateway.
 */
import type { Ledger } from './ledger.ts';

/** Passes through to the namespace if the ledger keeps no values. */
export function keepValues(kv: KVNamespace, ledger: Ledger): KVNamespace {
  const get = async (keys: string | string[], type: 'text') => {
    const kept = ledger.values;
    if (!kept) return kv.get(keys as string[], type);
    const asked = typeof keys === 'string' ? [keys] : keys;
    const missing = asked.filter(key => !kept.has(key));
    if (missing.length > 0) {
      for (const [key, text] of await kv.get(missing, 'text')) {
        if (text !== null) kept.set(key, text);
      }
    }
    const texts = asked.map(key => [key, kept.get(key) ?? null] as const);
    return typeof keys === 'string' ? texts[0]?.[1] : new Map(texts);
  };
  return new Proxy(kv, {
    get(_, member) {
      if (member === 'get') return get;
      const value: unknown = Reflect.get(kv, member);
      return typeof value === 'function' ? value.bind(kv) : value;
    },
  });
}
