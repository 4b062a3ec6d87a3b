/** Counts operations on stores and objects; each trip takes its set distance. */

/** Distance of each kind, in milliseconds. */
export interface Distances {
  d1: number;
  object: number;
  kv: number;
}
export type FarKind = keyof Distances;

export class Ledger {
  /** Counters by name, like `d1.trips` or `AuditLog.rowsWritten`. */
  readonly counts: Record<string, number> = {};
  readonly distances: Distances = { d1: 0, object: 0, kv: 0 };
  /** Values read from KV, if they are kept in memory (`kept-kv.ts`). */
  values: Map<string, string> | undefined;
  /** Operations since the last reset, in order: `DB.batch`, `CATALOG.get`, `AUDIT_LOG.begin`. */
  readonly asked: string[] = [];
  /** Every answer waits for the promise that this returned when the operation began. */
  hold: (() => Promise<void> | undefined) | undefined;
  #hops = 0;
  /** Objects with running work, and its start. */
  readonly #busy = new Map<string, { n: number; since: number }>();

  add(name: string, n = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + n;
  }

  /** Length of the longest chain of trips that each began after the former had ended. */
  get hops(): number {
    return this.#hops;
  }

  /** Makes a round trip, which takes the distance of its kind. */
  async travel<T>(kind: FarKind, what: string, act: () => Promise<T> | T): Promise<T> {
    const hop = this.#hops + 1;
    const held = this.hold?.();
    this.asked.push(what);
    const ms = this.distances[kind];
    if (ms > 0) await scheduler.wait(ms);
    try {
      const answer = await act();
      if (held) await held;
      return answer;
    } finally {
      this.#hops = Math.max(this.#hops, hop);
    }
  }

  /** Counts the time during which an object has running work, which is billed. */
  async whileAwake<T>(key: string, type: string, act: () => Promise<T> | T): Promise<T> {
    const known = this.#busy.get(key) ?? { n: 0, since: performance.now() };
    if (known.n === 0) known.since = performance.now();
    known.n += 1;
    this.#busy.set(key, known);
    try {
      return await act();
    } finally {
      known.n -= 1;
      if (known.n === 0) this.add(`${type}.awakeMs`, performance.now() - known.since);
    }
  }

  /** Resets the counters; running work of objects is still counted. */
  reset(): void {
    for (const name of Object.keys(this.counts)) delete this.counts[name];
    this.asked.length = 0;
    this.#hops = 0;
  }
}

/** The ledger of the metered Worker, whose objects run in the same isolate. */
export const LEDGER = new Ledger();

/** Sets distances, or resets the ledger; returns the counters. */
export function handleLedger(url: URL): Response {
  for (const kind of Object.keys(LEDGER.distances) as FarKind[]) {
    const ms = url.searchParams.get(kind);
    if (ms !== null) LEDGER.distances[kind] = Number(ms);
  }
  if (url.searchParams.has('keep')) LEDGER.values = new Map();
  const told = Response.json({ ...LEDGER.counts, hops: LEDGER.hops });
  if (url.searchParams.has('reset')) LEDGER.reset();
  return told;
}
