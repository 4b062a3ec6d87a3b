/** Reads many KV texts in few operations. An invocation has 1,000 operations, and six connections for operations other than bulk reads. */

/** The platform's limit of keys in one read. */
const MAX_KEYS = 100;

/** Returns the texts under these keys, in their order; undefined where there is none. */
export async function findTexts(
  kv: KVNamespace,
  keys: readonly string[],
): Promise<(string | undefined)[]> {
  const reads: Promise<Map<string, string | null>>[] = [];
  for (let from = 0; from < keys.length; from += MAX_KEYS) {
    reads.push(findTogether(kv, keys.slice(from, from + MAX_KEYS)));
  }
  const found = new Map((await Promise.all(reads)).flatMap(texts => [...texts]));
  return keys.map(key => found.get(key) ?? undefined);
}

async function findTogether(
  kv: KVNamespace,
  keys: readonly string[],
): Promise<Map<string, string | null>> {
  const [first] = keys;
  if (first !== undefined && keys.length === 1) return new Map([[first, await kv.get(first)]]);
  try {
    return await kv.get([...keys], 'text');
  } catch {
    // Together they may exceed the 25 MB limit of one response.
    const half = Math.ceil(keys.length / 2);
    const [some, others] = await Promise.all([
      findTogether(kv, keys.slice(0, half)),
      findTogether(kv, keys.slice(half)),
    ]);
    return new Map([...some, ...others]);
  }
}
