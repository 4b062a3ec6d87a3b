/**
 * The notification stream of one session, in the client's object: passes what the server sends there to the calls under way. If the client
 * has a stream of its own, the Worker in which that ends reads the server's stream, so that the object may sleep; otherwise the object
 * reads it while calls of the session run.
 *
 * Invariants: one of the two reads at a time; a stream that is slow to open keeps calls back for `waitMs`, once; a call that listens still
 * gets messages after the client's own stream ended.
 */
import type { UpstreamEndpoint } from '../endpoint.ts';
import { postText } from '../server-messages.ts';
import type { NegotiatedProtocol } from '../protocol/wire-request.ts';
import type { SessionNotification } from './session-events.ts';
import { SharedStream } from './shared-stream.ts';
import { FOR_CALLS, openReading, type StreamState } from './stream-reader.ts';

export interface NotificationStreamOptions {
  protocol: NegotiatedProtocol;
  /** How long the stream stays open after the last call, in milliseconds. */
  holdMs: number;
  maxBytes: number;
  /** Longest time a call waits for the stream, in milliseconds; it may open later. */
  waitMs: number;
  /** Called when a call has waited in vain. */
  onSlow(): void;
  /** See `SharedStream`. */
  graceMs: number;
  /** See `SharedStream`. */
  onEvent(message: SessionNotification): boolean;
  /** Makes the client's own Worker read the stream. @returns undefined if there is no such Worker */
  readElsewhere(): Promise<StreamState | undefined>;
  /** Makes that Worker post a message. @returns false if there is no such Worker */
  postElsewhere(text: string): boolean;
  /** Whether the stream is to stay open though no call runs. */
  isKeptOpen(): boolean;
  /** Called once, when the stream is closed for good. */
  onClose(): void;
}

interface Reading {
  controller: AbortController;
  opening: Promise<StreamState>;
}

export class NotificationStream {
  readonly shared: SharedStream;
  /** Absent if the object lost its memory while the client's Worker read the stream. */
  endpoint: UpstreamEndpoint | undefined;
  readonly #options: NotificationStreamOptions;
  #reading: Reading | undefined;
  #isClosed = false;
  #isSlow = false;
  #heldUntil = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(endpoint: UpstreamEndpoint | undefined, options: NotificationStreamOptions) {
    this.endpoint = endpoint;
    this.#options = options;
    const { graceMs, onEvent } = options;
    this.shared = new SharedStream({ send: text => this.#send(text), graceMs, onEvent });
  }

  /** A new object each time that this object opens the stream from the beginning. */
  get opening(): object | undefined {
    return this.#reading?.opening;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens the stream for a call that begins. */
  async hold(): Promise<StreamState> {
    const elsewhere = this.#reading ? undefined : await this.#options.readElsewhere();
    if (elsewhere === 'open' || elsewhere === 'none') return elsewhere;
    if (this.#isClosed || !this.endpoint) return 'closed';
    return this.#holdHere(this.endpoint);
  }

  /** The client's own Worker came or went: the stream stays open for calls under way, and is closed if nothing needs it. */
  async changeHands(): Promise<void> {
    if (this.shared.size > 0 || this.#options.isKeptOpen()) await this.hold();
    else this.close();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#letGo();
    this.shared.close();
    this.#options.onClose();
  }

  async #holdHere(endpoint: UpstreamEndpoint): Promise<StreamState> {
    const { holdMs, waitMs, onSlow } = this.#options;
    this.#heldUntil = Math.max(this.#heldUntil, Date.now() + holdMs);
    this.#timer ??= setTimeout(() => this.#check(), holdMs);
    this.#reading ??= this.#open(endpoint);
    if (this.#isSlow) return 'open';
    let timer: ReturnType<typeof setTimeout> | null = null;
    const late = new Promise<StreamState>(resolve => {
      timer = setTimeout(() => {
        this.#isSlow = true;
        onSlow();
        resolve('open');
      }, waitMs);
    });
    const state = await Promise.race([this.#reading.opening, late]);
    clearTimeout(timer);
    return state;
  }

  #open(endpoint: UpstreamEndpoint): Reading {
    const { protocol, maxBytes } = this.#options;
    const controller = new AbortController();
    const end = () => {
      // The next call opens it anew, from the beginning.
      if (this.#reading === reading) this.#reading = undefined;
    };
    const opening = openReading({
      endpoint: () => this.endpoint ?? endpoint,
      protocol,
      maxBytes,
      take: message => this.shared.take(message),
      ...FOR_CALLS,
      signal: controller.signal,
      onEnd: end,
    }).then(state => {
      this.#isSlow = false;
      if (state === 'closed') end();
      return state;
    });
    const reading = { controller, opening };
    return reading;
  }

  /** Stops reading in this object. */
  #letGo(): void {
    this.#reading?.controller.abort();
    this.#reading = undefined;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Keeps the stream open while calls run or it is pinned. */
  #check(): void {
    const now = Date.now();
    if (this.shared.size > 0 || this.#options.isKeptOpen()) {
      this.#heldUntil = Math.max(this.#heldUntil, now + this.#options.holdMs);
    }
    if (now >= this.#heldUntil) return this.close();
    this.#timer = setTimeout(() => this.#check(), this.#heldUntil - now);
  }

  async #send(text: string): Promise<void> {
    if (!this.#reading && this.#options.postElsewhere(text)) return;
    if (this.endpoint) await postText(this.endpoint, this.#options.protocol, text);
  }
}
