/**
 * An isolate's side of limits: calls spend tokens that the isolate holds, and more are fetched from the principal's object before they run
 * out, so that a warm call makes no request for them. If none are held, the calls of a moment wait for one request.
 *
 * Invariants: one request of a caller is under way at a time, and is repeated under its id until it is answered; a token that was given
 * back is never spent; no promise of one request is awaited by another. Fails closed: a call that cannot be limited is not sent.
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

/** Decision on a waiting call; a number is the time until there may be a token, in milliseconds. */
type Admission = 'passed' | 'busy' | number;
interface Waiting {
  admission?: Admission;
}

/** A request for tokens that is under way. */
interface LeaseInFlight {
  request: LeaseRequest;
  calls: readonly Waiting[];
  /** When it was last sent. */
  sentAt: number;
}

/** Who shares one set of tokens: a principal, or a principal at a server. */
interface Lane {
  principalId: string;
  limits: readonly NamedLimit[];
  hand: Hand;
  waiting: Waiting[];
  inFlight?: LeaseInFlight | undefined;
  /** Until when nothing is fetched ahead, because no tokens were left. */
  dryUntil: number;
}

/** Waits before an object that did not answer is asked again, in milliseconds. */
const RETRY_MS = [20, 100, 400, 0];
/** The same for tokens that are given back. */
const RETURN_MS = [250, 1_000, 0];
/** After this time a request counts as cut off and another call sends it again, in milliseconds. */
const CUT_OFF_MS = 2_000;
const DRY_MS = 1_000;
/** How often a waiting call polls, in milliseconds; the more calls wait, the less often. */
const POLL_MS = { first: 5, each: 0.05, most: 250 };
/** From this number of lanes on, those that hold nothing are dropped. */
const MANY_LANES = 1_000;

export class LeasedLimits {
  readonly #ports: LeasedLimitsPorts;
  readonly #lanes = new Map<string, Lane>();

  constructor(ports: LeasedLimitsPorts) {
    this.#ports = ports;
  }

  /**
   * Takes a token of every limit for a call that is about to be sent.
   * @param waitUntil absent if nothing may outlive the response; then nothing is fetched ahead
   * @returns the time until there may be a token, in milliseconds; undefined if the call may be sent
   * @throws PorticoError `busy` if that cannot be found out
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
    while (call.admission === undefined) {
      if (this.#maySend(lane)) await this.#request(lane, waitUntil);
      else await wait(Math.min(POLL_MS.most, POLL_MS.first + lane.waiting.length * POLL_MS.each));
    }
    if (call.admission === 'busy') {
      throw new PorticoError('busy', 'The limit of calls is not known now; the call was not made');
    }
    return call.admission === 'passed' ? undefined : call.admission;
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
    for (const [key, { hand, waiting, inFlight }] of this.#lanes) {
      if (!inFlight && waiting.length === 0 && hand.isIdle(now)) this.#lanes.delete(key);
    }
  }

  #fetchAhead(lane: Lane, waitUntil: WaitUntil | undefined): void {
    const now = this.#ports.now();
    if (!waitUntil || now < lane.dryUntil || !lane.hand.isLow(now)) return;
    if (this.#maySend(lane)) void this.#request(lane, waitUntil);
  }

  #maySend({ inFlight }: Lane): boolean {
    return !inFlight || inFlight.sentAt + CUT_OFF_MS < this.#ports.now();
  }

  /** Asks for tokens for the waiting calls, or repeats a request that was cut off. */
  #request(lane: Lane, waitUntil: WaitUntil | undefined): Promise<void> {
    lane.inFlight ??= this.#next(lane, waitUntil !== undefined);
    const sending = this.#send(lane, lane.inFlight, waitUntil);
    waitUntil?.(sending);
    return sending;
  }

  #next({ hand, limits, waiting }: Lane, isAhead: boolean): LeaseInFlight {
    const calls = waiting.splice(0);
    const ahead = isAhead ? hand.ahead(this.#ports.now()) : 0;
    const request = { id: crypto.randomUUID(), limits, waiting: calls.length, ahead };
    return { request, calls, sentAt: 0 };
  }

  async #send(lane: Lane, sent: LeaseInFlight, waitUntil: WaitUntil | undefined): Promise<void> {
    const { shardOf, wait, now } = this.#ports;
    for (const ms of RETRY_MS) {
      const sentAt = now();
      sent.sentAt = sentAt;
      try {
        const lease = await shardOf(lane.principalId).lease(lane.principalId, sent.request);
        return this.#land(lane, sent, lease, sentAt, waitUntil);
      } catch {
        await wait(ms);
      }
    }
    if (lane.inFlight !== sent) return;
    lane.inFlight = undefined;
    for (const call of sent.calls) call.admission = 'busy';
  }

  #land(
    lane: Lane,
    sent: LeaseInFlight,
    lease: Lease,
    sentAt: number,
    waitUntil: WaitUntil | undefined,
  ): void {
    // The request was sent twice, and answered before.
    if (lane.inFlight !== sent) return;
    lane.inFlight = undefined;
    const { hand } = lane;
    const { request, calls } = sent;
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
      call.admission = mayLeave ? 'passed' : (lease.retryAfterMs ?? 0);
    });
    while (lane.waiting.length > 0 && hand.spend(now)) {
      const call = lane.waiting.shift();
      if (call) call.admission = 'passed';
    }
  }

  /** Gives back the unspent tokens of a lease when it ends. */
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
