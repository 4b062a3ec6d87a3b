/**
 * The standing GET stream of a session at a legacy server: what the server asks or tells there is
 * not tied to a call (2025-11-25, transports, Listening for Messages from the Server). Open while
 * calls of the session run and for a while after; one that breaks is gone on with where it stopped.
 *
 * Invariants: one stream of a session at a time; a server that offers none is not asked again; a
 * stream that is slow to open keeps calls back for `waitMs`, once.
 */
import { readEvents, SseParser } from '../../http/sse-events.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { parseMessage, type UpstreamMessage } from '../protocol/message.ts';
import { SharedStream } from './shared-stream.ts';
import type { Told } from './session-events.ts';
import { postText } from '../server-messages.ts';
import { requestHeaders, type NegotiatedProtocol } from '../protocol/wire-request.ts';

/** `none`: the server offers no such stream; `closed`: it cannot be opened now. */
export type StreamState = 'open' | 'none' | 'closed';

export interface NotificationStreamOptions {
  /** How long the stream stays after it was last held or a call ran, in milliseconds. */
  holdMs: number;
  maxBytes: number;
  /** Longest time a call waits for the stream, in milliseconds; it may open later. */
  waitMs: number;
  /** Told when a call has waited for nothing. */
  onSlow(): void;
  /** See `SharedStream`. */
  graceMs: number;
  /** See `SharedStream`. */
  onEvent(message: Told): boolean;
  /** Whether somebody is there who hears of news. */
  isHeard(): boolean;
  /** Whether the stream is to stay though no call runs. */
  isPinned(): boolean;
  /** Told once, when the stream is over for good. */
  onClose(): void;
}

/** Statuses of a server without such streams. */
const NO_STREAM = new Set([404, 405, 501]);
const OPEN_MS = 10_000;
/** A server that told something outside of calls is heard for so long at least, in milliseconds. */
const TALKING_MS = 300_000;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Attempts to go on with a stream, one after the other without success. */
const MAX_FAILURES = 5;

export class NotificationStream {
  readonly shared: SharedStream;
  readonly #endpoint: UpstreamEndpoint;
  readonly #protocol: NegotiatedProtocol;
  readonly #options: NotificationStreamOptions;
  readonly #over = new AbortController();
  #opening: Promise<StreamState> | undefined;
  #isSlow = false;
  #heldUntil = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    endpoint: UpstreamEndpoint,
    protocol: NegotiatedProtocol,
    options: NotificationStreamOptions,
  ) {
    this.#endpoint = endpoint;
    this.#protocol = protocol;
    this.#options = options;
    const send = (text: string) => postText(endpoint, protocol, text);
    const onEvent = (message: Told) => this.#hearEvent(message);
    this.shared = new SharedStream({ send, graceMs: options.graceMs, onEvent });
  }

  /** Another one each time that the stream is opened from the beginning; undefined while it is not open. */
  get opening(): object | undefined {
    return this.#opening;
  }

  get isClosed(): boolean {
    return this.#over.signal.aborted;
  }

  /** Have the stream open for the time to come. */
  async hold(): Promise<StreamState> {
    this.#heldUntil = Math.max(this.#heldUntil, Date.now() + this.#options.holdMs);
    this.#timer ??= setTimeout(() => this.#check(), this.#options.holdMs);
    this.#opening ??= this.#open();
    if (this.#isSlow) return 'open';
    let timer: ReturnType<typeof setTimeout> | null = null;
    const late = new Promise<StreamState>(resolve => {
      timer = setTimeout(() => {
        this.#isSlow = true;
        this.#options.onSlow();
        resolve('open');
      }, this.#options.waitMs);
    });
    const state = await Promise.race([this.#opening, late]);
    clearTimeout(timer);
    return state;
  }

  close(): void {
    if (this.isClosed) return;
    this.#over.abort();
    clearTimeout(this.#timer);
    this.shared.close();
    this.#options.onClose();
  }

  /** A server that talks between calls will go on with that. */
  #hearEvent(message: Told): boolean {
    const isTaken = this.#options.onEvent(message);
    if (isTaken && this.#options.isHeard())
      this.#heldUntil = Math.max(this.#heldUntil, Date.now() + TALKING_MS);
    return isTaken;
  }

  /** Calls that run hold the stream too, and whoever waits for news. */
  #check(): void {
    const now = Date.now();
    if (this.shared.size > 0 || this.#options.isPinned()) {
      this.#heldUntil = Math.max(this.#heldUntil, now + this.#options.holdMs);
    }
    if (now >= this.#heldUntil) return this.close();
    this.#timer = setTimeout(() => this.#check(), this.#heldUntil - now);
  }

  async #open(): Promise<StreamState> {
    const body = await this.#get('');
    this.#isSlow = false;
    if (body instanceof ReadableStream) {
      void this.#read(body);
      return 'open';
    }
    if (body === 'closed') this.#opening = undefined;
    return body;
  }

  async #get(lastEventId: string): Promise<ReadableStream<Uint8Array> | 'none' | 'closed'> {
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    const timer = setTimeout(abort, OPEN_MS);
    this.#over.signal.addEventListener('abort', abort, { once: true });
    const { 'content-type': _unused, ...headers } = requestHeaders(
      this.#endpoint,
      this.#protocol,
      '',
    );
    const resuming = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const response = await this.#endpoint
      .fetch(this.#endpoint.url, {
        headers: { ...headers, accept: 'text/event-stream', ...resuming },
        redirect: 'manual',
        signal: attempt.signal,
      })
      .catch(() => undefined);
    clearTimeout(timer);
    const isStream = response?.headers.get('content-type')?.includes('text/event-stream');
    if (response?.status === 200 && isStream && response.body) return response.body;
    response?.body?.cancel().catch(() => {});
    return NO_STREAM.has(response?.status ?? 0) ? 'none' : 'closed';
  }

  async #read(opened: ReadableStream<Uint8Array>): Promise<void> {
    const { signal } = this.#over;
    const { maxBytes } = this.#options;
    let body: ReadableStream<Uint8Array> | 'none' | 'closed' = opened;
    let lastEventId = '';
    let retryMs = RETRY_MS;
    for (let failures = 0; failures < MAX_FAILURES && body !== 'none'; failures += 1) {
      if (body instanceof ReadableStream) {
        failures = 0;
        const parser = new SseParser(maxBytes);
        await this.#hear(body, parser);
        lastEventId = parser.resumption.lastEventId || lastEventId;
        retryMs = Math.min(parser.resumption.retryMs ?? retryMs, MAX_RETRY_MS);
      }
      if (signal.aborted) return;
      await pause(retryMs, signal);
      if (signal.aborted) return;
      body = await this.#get(lastEventId);
    }
    // Opened anew by the next call, from the beginning.
    this.#opening = undefined;
  }

  async #hear(body: ReadableStream<Uint8Array>, parser: SseParser): Promise<void> {
    const { maxBytes } = this.#options;
    try {
      for await (const { event, data } of readEvents(body, maxBytes, parser, this.#over.signal)) {
        const message = event === 'message' ? parse(data) : undefined;
        if (message) this.shared.take(message);
      }
    } catch {
      // A broken stream is the same as an ended one: it is gone on with.
    }
  }
}

/** Responses have no place here, and what is no message is passed over. */
function parse(data: string): UpstreamMessage | undefined {
  try {
    return parseMessage(data, '');
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
