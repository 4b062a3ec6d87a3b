/** What was asked of stores and objects, counted; each way to one takes as long as it is told to. */

/** Counters by name, as `d1.trips` or `AuditLog.rowsWritten`. */
export const counts: Record<string, number> = {};

/** How far away each kind of thing is, in milliseconds. */
export const distances = { d1: 0, object: 0, kv: 0 };
export type Kind = keyof typeof distances;

export function add(name: string, n = 1): void {
  counts[name] = (counts[name] ?? 0) + n;
}

/** Goes there and back, which takes the distance of its kind. */
export async function travel<T>(kind: Kind, act: () => Promise<T> | T): Promise<T> {
  const ms = distances[kind];
  if (ms > 0) await scheduler.wait(ms);
  return act();
}

/** Objects in which something is under way, and since when. */
const busy = new Map<string, { n: number; since: number }>();

/** Counts the time in which anything of an object is under way, as it is billed. */
export async function whileAwake<T>(key: string, type: string, act: () => Promise<T> | T) {
  const known = busy.get(key) ?? { n: 0, since: performance.now() };
  if (known.n === 0) known.since = performance.now();
  known.n += 1;
  busy.set(key, known);
  try {
    return await act();
  } finally {
    known.n -= 1;
    if (known.n === 0) add(`${type}.awakeMs`, performance.now() - known.since);
  }
}

/** Sets the ledger back, or what is far away; tells what was counted. */
export function handleLedger(url: URL): Response {
  for (const kind of Object.keys(distances) as Kind[]) {
    const ms = url.searchParams.get(kind);
    if (ms !== null) distances[kind] = Number(ms);
  }
  const told = Response.json(counts);
  if (url.searchParams.has('reset')) for (const name of Object.keys(counts)) delete counts[name];
  return told;
}
