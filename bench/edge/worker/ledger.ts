/** What is asked of stores and objects, counted; each way to one takes as long as it is told to. */

/** How far away each kind of thing is, in milliseconds. */
export interface Distances {
  d1: number;
  object: number;
  kv: number;
}
export type FarKind = keyof Distances;

export class Ledger {
  /** Counters by name, as `d1.trips` or `AuditLog.rowsWritten`. */
  readonly counts: Record<string, number> = {};
  readonly distances: Distances = { d1: 0, object: 0, kv: 0 };
  /** What KV gave, where that stays in memory (`kept-kv.ts`). */
  values: Map<string, string> | undefined;
  /** What was asked since this was emptied, in order: `DB.batch`, `CATALOG.get`, `AUDIT_LOG.begin`. */
  readonly asked: string[] = [];
  /** Every answer waits for what this gave when it was asked for. */
  hold: (() => Promise<void> | undefined) | undefined;
  #hops = 0;
  /** Objects in which something is under way, and since when. */
  readonly #busy = new Map<string, { n: number; since: number }>();

  add(name: string, n = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + n;
  }

  /** The longest chain of ways that each began after the one before it had ended. */
  get hops(): number {
    return this.#hops;
  }

  /** Goes there and back, which takes the distance of its kind. */
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

  /** Counts the time in which anything of an object is under way, as it is billed. */
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

  /** Begins anew; what is under way in objects is counted on. */
  reset(): void {
    for (const name of Object.keys(this.counts)) delete this.counts[name];
    this.asked.length = 0;
    this.#hops = 0;
  }
}

/** Of the metered Worker, whose objects are in its isolate. */
export const LEDGER = new Ledger();

/** Sets what is far away, or the ledger back; tells what was counted. */
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
