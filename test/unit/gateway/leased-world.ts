/**
 * Isolates that lease tokens from the object of one principal, in fake time. Messages take a while and may be lost either way; isolates die
 * with the tokens that they hold, and the object loses its memory except its buckets. Notes each call that passes and when its token was
 * spent: at the object if the call waited for it, else in its isolate.
 */
import { vi } from 'vitest';
import { LeasedLimits } from '../../../src/gateway/call-log/leased-limits.ts';
import { Hand } from '../../../src/audit/limits/hand.ts';
import { LeaseBook } from '../../../src/audit/limits/lease-book.ts';
import type { Bucket, NamedLimit } from '../../../src/audit/limits/token-bucket.ts';
import { HOLD_MS, type Lease, type LeaseRequest } from '../../../src/audit/limits/token-lease.ts';

/** The fate of a message: it arrives, it does not, its answer is lost, or its sender is cut off. */
export type Fate = 'done' | 'lost' | 'unheard' | 'never';

export interface WorldOptions {
  /** Duration of a message in one direction, in milliseconds. */
  tripMs?: () => number;
  fateOf?: () => Fate;
}

/** A drawn lease. */
interface Drawn {
  id: string;
  at: number;
  isolate: Isolate;
  lease: Lease;
  /** Whether its isolate has it, and whether the isolate returned what it did not spend. */
  state: 'drawn' | 'held' | 'returning' | 'returned';
  /** Its spare tokens are lost with its isolate, or with the memory of the object. */
  isLost: boolean;
}

export interface Isolate {
  limits: LeasedLimits;
  isDead: boolean;
  /** Defers its work, like `waitUntil` of a request. */
  waitUntil(work: Promise<unknown>): void;
}

export const START = 1_790_000_000_000;

export function createLeasedWorld({ tripMs = () => 25, fateOf = () => 'done' }: WorldOptions = {}) {
  let now = START;
  /** The next timer is last. */
  const timers: { at: number; go(): void }[] = [];
  const buckets = new Map<string, Bucket>();
  const store = {
    find: ({ name }: NamedLimit) => buckets.get(name),
    put: ({ name }: NamedLimit, bucket: Bucket) => void buckets.set(name, bucket),
  };
  let book = new LeaseBook(store);
  /** Leases that the object knows since it last lost its memory. */
  let known = new Set<string>();
  const passes: { at: number; name: string }[] = [];
  const drawn: Drawn[] = [];
  const asked: LeaseRequest[] = [];
  const returned: string[] = [];
  const limitsOf = new WeakMap<Hand, readonly NamedLimit[]>();
  const drawnOf = (id: string) => drawn.findLast(each => each.id === id);
  const lose = (isAffected: (each: Drawn) => boolean) => {
    for (const each of drawn) {
      // An older lease had ended.
      if (each.at < now - HOLD_MS - 2_000 || each.state === 'returned') continue;
      if (isAffected(each)) each.isLost = true;
    }
  };
  const note = (limits: readonly NamedLimit[], calls: number) => {
    for (const { name } of limits) {
      for (let n = 0; n < calls; n += 1) passes.push({ at: now, name });
    }
  };

  const wait = (ms: number) =>
    new Promise<void>(go => {
      const at = now + Math.max(0, ms);
      const place = timers.findLastIndex(other => other.at > at);
      timers.splice(place + 1, 0, { at, go });
    });
  /** Sends a message to the object and returns its answer. */
  async function send<T>(isolate: Isolate, act: () => T): Promise<T> {
    const fate = fateOf();
    await wait(tripMs());
    if (fate === 'lost') throw new Error('lost');
    const answer = act();
    await wait(tripMs());
    // The sender no longer exists.
    if (isolate.isDead || fate === 'never') return new Promise<never>(() => {});
    if (fate === 'unheard') throw new Error('unheard');
    return answer;
  }

  function createIsolate(): Isolate {
    const work: Promise<unknown>[] = [];
    const limits = new LeasedLimits({
      shardOf: () => ({
        async lease(_principalId, request) {
          const { id } = request;
          const told = await send(isolate, () => {
            asked.push(request);
            const lease = book.draw(request, now);
            if (known.has(id) || lease.passed + lease.spare === 0) return lease;
            known.add(id);
            drawn.push({ id, at: now, isolate, lease, state: 'drawn', isLost: false });
            note(request.limits, lease.passed);
            return lease;
          });
          const entry = drawnOf(id);
          if (entry) entry.state = 'held';
          return told;
        },
        giveBack(id, unspent) {
          const entry = drawnOf(id);
          if (entry) entry.state = 'returning';
          return send(isolate, () => {
            returned.push(id);
            book.giveBack(id, unspent, now);
            if (entry) entry.state = 'returned';
          });
        },
      }),
      async wait(ms) {
        await wait(ms);
        if (isolate.isDead) await new Promise<never>(() => {});
      },
      now: () => now,
    });
    const isolate: Isolate = {
      limits,
      isDead: false,
      waitUntil: each => void work.push(each),
    };
    return isolate;
  }

  const spend = Hand.prototype.spend;
  vi.spyOn(Hand.prototype, 'spend').mockImplementation(function (this: Hand, at) {
    // The first call of a lane checks its lease before it awaits anything.
    const limits = limitsOf.get(this) ?? current;
    limitsOf.set(this, limits);
    const isSpent = spend.call(this, at);
    if (isSpent) note(limits, 1);
    return isSpent;
  });
  /** Limits of the current call. */
  let current: readonly NamedLimit[] = [];

  const settle = async () => {
    for (let n = 0; n < 12; n += 1) await Promise.resolve();
  };
  return {
    buckets,
    passes,
    drawn,
    asked,
    returned,
    createIsolate,
    wait,
    settle,
    now: () => now,
    /** Makes one call. @returns as `take` */
    call(isolate: Isolate, limits: readonly NamedLimit[]): Promise<number | undefined> {
      current = limits;
      return isolate.limits.take('p', limits, isolate.waitUntil);
    },
    /** The object loses its memory. */
    evict() {
      lose(({ state }) => state !== 'returned');
      book = new LeaseBook(store);
      known = new Set();
    },
    /** An isolate dies with what it holds. */
    kill(isolate: Isolate) {
      isolate.isDead = true;
      lose(each => each.isolate === isolate);
    },
    /** Maximum number of lost tokens among those drawn since `since`, once all is idle. */
    lostSince: (since: number) =>
      drawn
        .filter(
          ({ at, state, isLost }) =>
            at >= since && (isLost || state === 'drawn' || state === 'returning'),
        )
        .reduce((sum, { lease }) => sum + lease.spare, 0),
    /** Advances time, one event after the other. */
    async pass(ms: number) {
      const until = now + ms;
      await settle();
      while ((timers.at(-1)?.at ?? Infinity) <= until) {
        now = Math.max(now, timers.at(-1)?.at ?? now);
        while ((timers.at(-1)?.at ?? Infinity) <= now) timers.pop()?.go();
        await settle();
      }
      now = until;
    },
  };
}
