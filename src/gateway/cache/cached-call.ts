/**
 * One call of a tool whose results may be cached. It uses a cached result, waits for an equal call in flight, or makes the call, stores its
 * result and hands it to the callers that wait.
 *
 * Invariants: the call is made at most once; a leader renews its lease until its call returns, and gives the lease up if the call will not
 * return; the cache never makes a call fail.
 */
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { CallContext, CallMessages, CallReply } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { CacheKey } from './cache-key.ts';
import type { CacheShard, Entry, Taken } from './cache-port.ts';
import { isKeepable, toResponse, withNote } from './cached-result.ts';

export interface CachedRequestPorts {
  shardOf(key: string): CacheShard;
  keys: Pick<KeyRing, 'seal' | 'open'>;
  maxResultBytes: number;
  /** How long a call waits for an equal one, in milliseconds. */
  waitMs: number;
  now(): number;
}

/** The answer to a call; with `isHit` it is a cached result. */
export interface CacheAnswer {
  reply: CallReply;
  isHit?: true;
}

/** How often a leader renews its lease, in milliseconds: well within the lease of `single-flight.ts`. */
const RENEWAL_MS = 3_000;
const ALONE: Taken = { kind: 'alone' };

export class CachedRequest {
  readonly #ports: CachedRequestPorts;
  readonly #key: CacheKey;
  readonly #ttlMs: number;
  readonly #context: CallContext;
  readonly #send: () => Promise<CallReply>;
  readonly #shard: CacheShard;
  readonly #id = crypto.randomUUID();
  #timer: ReturnType<typeof setInterval> | 0 = 0;
  #isOver = false;
  readonly #onGone = () => this.#over(() => this.#shard.leave(this.#key.key, this.#id));

  /** @param send makes the call */
  constructor(
    ports: CachedRequestPorts,
    key: CacheKey,
    ttlMs: number,
    context: CallContext,
    send: () => Promise<CallReply>,
  ) {
    this.#ports = ports;
    this.#key = key;
    this.#ttlMs = ttlMs;
    this.#context = context;
    this.#send = send;
    this.#shard = ports.shardOf(key.key);
  }

  /** Answers from the cache, else with the result of an equal call in flight, else by making the call. */
  async taken(): Promise<CacheAnswer> {
    const { signal } = this.#context;
    signal.addEventListener('abort', this.#onGone, { once: true });
    const { waitMs, now } = this.#ports;
    const taken = await this.#shard
      .take(this.#key.key, this.#id, now() - this.#ttlMs, waitMs)
      .catch(() => ALONE);
    if (taken.kind === 'entry') {
      const response = await this.#open(taken.entry);
      if (response) {
        this.#close();
        this.#context.onDispatch?.();
        return { reply: { response }, isHit: true };
      }
    }
    // A client that left meanwhile has given the lead up.
    if (taken.kind !== 'lead' || this.#isOver) {
      this.#close();
      return { reply: await this.#send() };
    }
    this.#timer = setInterval(() => this.#renew(), RENEWAL_MS);
    if (taken.mustClaim) this.#renew();
    return this.#led();
  }

  /** Makes the call even if a result is cached; the new result replaces that one. */
  renewed(): Promise<CacheAnswer> {
    return this.#led();
  }

  async #led(): Promise<CacheAnswer> {
    const madeAt = this.#ports.now();
    try {
      const reply = await this.#send();
      if ('messages' in reply) {
        return { reply: { messages: this.#watch(reply.messages, madeAt) } };
      }
      return { reply: { response: this.#land(reply.response, madeAt) } };
    } catch (thrown) {
      this.#onGone();
      throw thrown;
    }
  }

  /** Forwards what comes before the result to the leader. Once the server asks the client something, the result is the leader's alone. */
  async *#watch(messages: CallMessages, madeAt: number): CallMessages {
    let hasQuestion = false;
    try {
      for await (const message of messages) {
        if (message.kind === 'question' && !hasQuestion) {
          hasQuestion = true;
          this.#over(() => this.#shard.release(this.#key.key, this.#id));
        }
        if (message.kind === 'response') {
          yield hasQuestion ? message : this.#land(message, madeAt);
          return;
        }
        yield message;
      }
    } finally {
      this.#onGone();
    }
  }

  /** Handles the response: caches it if that is allowed, else lets the callers that wait make their own calls. */
  #land(response: RawResponse, madeAt: number): RawResponse {
    if (!isKeepable(response, this.#ports.maxResultBytes)) {
      this.#over(() => this.#shard.release(this.#key.key, this.#id));
      return response;
    }
    this.#over(() => this.#put(response.result, madeAt));
    return withNote(response, { hit: false, ttl_ms: this.#ttlMs });
  }

  async #put(result: string, madeAt: number): Promise<void> {
    const sealed = await this.#ports.keys.seal('cache', result, this.#bound);
    const { key } = this.#key;
    await this.#shard.put(key, this.#id, { sealed, madeAt }, madeAt + this.#ttlMs);
  }

  async #open({ sealed, madeAt }: Entry): Promise<RawResponse | undefined> {
    try {
      const result = await this.#ports.keys.open('cache', sealed, this.#bound);
      const response = result === undefined ? undefined : toResponse(result);
      const age_ms = Math.max(0, this.#ports.now() - madeAt);
      return response && withNote(response, { hit: true, age_ms, ttl_ms: this.#ttlMs });
    } catch {
      return undefined;
    }
  }

  get #bound(): string {
    return `${this.#key.scope}|${this.#key.key}`;
  }

  #renew(): void {
    this.#shard.renew(this.#key.key, this.#id).catch(() => {});
  }

  /** Reports the end of the call to the shard, once; nobody waits for the report. */
  #over(report: () => Promise<void>): void {
    if (this.#isOver) return;
    this.#close();
    const reporting = report().catch(() => {});
    // After the client has gone no work can be deferred; work begun within that event may finish.
    if (!this.#context.signal.aborted) this.#context.waitUntil(reporting);
  }

  #close(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#context.signal.removeEventListener('abort', this.#onGone);
  }
}
