/**
 * An isolate's side of limits: calls spend tokens that the isolate holds, and more are fetched from the principal's object before they
 * run out, so that a warm call asks nobody. Where none are held, the calls of a moment ask together and wait.
 *
 * Invariants: one request of a caller is under way at a time, and is repeated under its id until it is answered; a token that was given
 * back is never spent; no promise of one request is awaited by another. Fails closed: who cannot be limited does not leave.
 */
import type { CallShard } from '../../audit/calls/call-schema.ts';
import { Hand } from '../../audit/limits/hand.ts';
import type { NamedLimit } from '../../audit/limits/token-bucket.ts';
import type { Lease, LeaseRequest } from '../../audit/limits/token-lease.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';

export interface LeasedLimitsPorts {
  shardOf(principalId: string): Pick<CallShard, 'lease' | 'giveBack'>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** What becomes of a call that waits; a number is the time until there may be a token, in milliseconds. */
type Verdict = 'passed' | 'busy' | number;
interface Waiting {
  verdict?: Verdict;
}

/** A request that is under way. */
interface Asking {
  request: LeaseRequest;
  calls: readonly Waiting[];
  /** When it was sent last. */
  sentAt: number;
}

/** What is drawn on together: a principal, or a principal at a server. */
interface Lane {
  principalId: string;
  limits: readonly NamedLimit[];
  hand: Hand;
  waiting: Waiting[];
  asking?: Asking | undefined;
  /** Until when nothing is fetched ahead, since there was nothing. */
  dryUntil: number;
}

/** Waits before an object that did not answer is asked again, in milliseconds. */
const RETRY_MS = [20, 100, 400, 0];
/** The same for what is given back. */
const RETURN_MS = [250, 1_000, 0];
/** A request that is under way for so long was cut off; another call sends it again. */
const CUT_OFF_MS = 2_000;
const DRY_MS = 1_000;
/** A call that waits looks so often, in milliseconds; the more wait, the less often. */
const LOOK_MS = { first: 5, each: 0.05, most: 250 };
/** From so many callers on, those are forgotten that hold nothing. */
const MANY_LANES = 1_000;

export class LeasedLimits {
  readonly #ports: LeasedLimitsPorts;
  readonly #lanes = new Map<string, Lane>();

  constructor(ports: LeasedLimitsPorts) {
    this.#ports = ports;
  }

  /**
   * Take a token of every limit for a call that wants to leave.
   * @param waitUntil absent where nothing may outlive the response; then nothing is fetched ahead
   * @returns the time until there may be one, in milliseconds; undefined where the call may leave
   * @throws PorticoError `busy` where that cannot be known
   */
  async take(
    principalId: string,
    limits: readonly NamedLimit[],
    waitUntil?: WaitUntil,
  ): Promise<number | undefined> {
    if (limits.length === 0) return undefined;
    const { now, wait } = this.#ports;
    const lane = this.#laneOf(principalId, limits);
    if (lane.hand.spend(now())) {
      this.#fetchAhead(lane, waitUntil);
      return undefined;
    }
    const call: Waiting = {};
    lane.waiting.push(call);
    while (call.verdict === undefined) {
      if (this.#mayAsk(lane)) await this.#ask(lane, waitUntil);
      else await wait(Math.min(LOOK_MS.most, LOOK_MS.first + lane.waiting.length * LOOK_MS.each));
    }
    if (call.verdict === 'busy') {
      throw new PorticoError('busy', 'The limit of calls is not known now; the call was not made');
    }
    return call.verdict === 'passed' ? undefined : call.verdict;
  }

  #laneOf(principalId: string, limits: readonly NamedLimit[]): Lane {
    const key = [principalId, ...limits.map(({ name }) => name)].join(' ');
    const known = this.#lanes.get(key);
    if (known) return known;
    if (this.#lanes.size >= MANY_LANES) this.#forgetIdle();
    const lane = { principalId, limits, hand: new Hand(), waiting: [], dryUntil: 0 };
    this.#lanes.set(key, lane);
    return lane;
  }

  #forgetIdle(): void {
    const now = this.#ports.now();
    for (const [key, { hand, waiting, asking }] of this.#lanes) {
      if (!asking && waiting.length === 0 && hand.isIdle(now)) this.#lanes.delete(key);
    }
  }

  #fetchAhead(lane: Lane, waitUntil: WaitUntil | undefined): void {
    const now = this.#ports.now();
    if (!waitUntil || now < lane.dryUntil || !lane.hand.isLow(now)) return;
    if (this.#mayAsk(lane)) void this.#ask(lane, waitUntil);
  }

  #mayAsk({ asking }: Lane): boolean {
    return !asking || asking.sentAt + CUT_OFF_MS < this.#ports.now();
  }

  /** Asks for what waits, or again for what was cut off. */
  #ask(lane: Lane, waitUntil: WaitUntil | undefined): Promise<void> {
    lane.asking ??= this.#next(lane, waitUntil !== undefined);
    const asked = this.#send(lane, lane.asking, waitUntil);
    waitUntil?.(asked);
    return asked;
  }

  #next({ hand, limits, waiting }: Lane, isAhead: boolean): Asking {
    const calls = waiting.splice(0);
    const ahead = isAhead ? hand.ahead(this.#ports.now()) : 0;
    const request = { id: crypto.randomUUID(), limits, waiting: calls.length, ahead };
    return { request, calls, sentAt: 0 };
  }

  async #send(lane: Lane, asking: Asking, waitUntil: WaitUntil | undefined): Promise<void> {
    const { shardOf, wait, now } = this.#ports;
    for (const ms of RETRY_MS) {
      const sentAt = now();
      asking.sentAt = sentAt;
      try {
        const lease = await shardOf(lane.principalId).lease(lane.principalId, asking.request);
        return this.#land(lane, asking, lease, sentAt, waitUntil);
      } catch {
        await wait(ms);
      }
    }
    if (lane.asking !== asking) return;
    lane.asking = undefined;
    for (const call of asking.calls) call.verdict = 'busy';
  }

  #land(
    lane: Lane,
    asking: Asking,
    lease: Lease,
    sentAt: number,
    waitUntil: WaitUntil | undefined,
  ): void {
    // It was sent twice, and answered before.
    if (lane.asking !== asking) return;
    lane.asking = undefined;
    const { hand } = lane;
    const { request, calls } = asking;
    const now = this.#ports.now();
    hand.note(lease.passed, now);
    lane.dryUntil = request.ahead > 0 && lease.spare === 0 ? now + DRY_MS : 0;
    if (lease.spare > 0) {
      const endsAt = sentAt + lease.lastsMs;
      hand.add(request.id, lease.spare, endsAt, now);
      waitUntil?.(this.#giveBackAt(lane, request.id, endsAt));
    }
    calls.forEach((call, n) => {
      const mayLeave = n < lease.passed || hand.spend(now);
      call.verdict = mayLeave ? 'passed' : (lease.retryAfterMs ?? 0);
    });
    while (lane.waiting.length > 0 && hand.spend(now)) {
      const call = lane.waiting.shift();
      if (call) call.verdict = 'passed';
    }
  }

  /** Gives back what is not spent of a lease when it ends. */
  async #giveBackAt({ principalId, hand }: Lane, id: string, endsAt: number): Promise<void> {
    const { shardOf, wait, now } = this.#ports;
    await wait(Math.max(0, endsAt - now()));
    const unspent = hand.end(id);
    if (unspent === 0) return;
    for (const ms of RETURN_MS) {
      try {
        return await shardOf(principalId).giveBack(id, unspent);
      } catch {
        await wait(ms);
      }
    }
  }
}
