/**
 * Distributes what a server sends on a stream that several calls of one client share: an HTTP+SSE connection, or the notification stream of
 * a session. The transport does not say which call a server request or a log message belongs to: they go to the call begun last that can
 * take them.
 *
 * Invariants: an open server request has one holder at most, and only the holder's answer is sent; a server request is answered once; one
 * that its call leaves open goes to another call under way, and is answered with an error if there is none.
 */
import { progressTokenOf } from '../protocol/progress-token.ts';
import { toAnswerText, type UpstreamMessage, type UpstreamRequest } from '../protocol/message.ts';
import { cancelledId, type RawAnswer } from '../protocol/server-request.ts';
import type { RequestId } from '../../shared/protocol.ts';

/** A call under way, as a shared stream sees it. */
export interface Listener {
  /** Whether its client can answer requests of this method. */
  canAnswer(method: string): boolean;
  /** Raw JSON of the token under which the server reports the call's progress. */
  progressToken: string | undefined;
  put(message: UpstreamMessage): void;
}

interface OpenQuestion {
  question: UpstreamRequest;
  /** Absent while the server request waits for a call. */
  holder: Listener | undefined;
  timer: ReturnType<typeof setTimeout> | null;
}

export interface SharedStreamOptions {
  /** Sends a message to the server; whether it arrives does not matter. */
  send(text: string): Promise<void>;
  /** Called for each notification but progress. @returns whether it was taken: then no call gets it */
  onEvent?(message: Notification): boolean;
  /** How long a message waits for a call that has not joined yet, in milliseconds. */
  graceMs: number;
}

/** A notification that came before its call joined. */
interface Early {
  message: Notification;
  at: number;
}

type Notification = UpstreamMessage & { kind: 'notification' };

/** Most open server requests of one client, and most characters of several together; further ones are refused. */
const MAX_OPEN = 200;
const MAX_OPEN_CHARS = 8_388_608;
/** Most answers on their way to the server. */
const MAX_ANSWERS = 200;
/** Most notifications kept for a call that has not joined yet, and most characters of each. */
const MAX_EARLY = 100;
const MAX_EARLY_CHARS = 65_536;
/** Notifications that belong to a call, though the transport does not say to which. */
const FOR_LAST = new Set(['notifications/message', 'notifications/elicitation/complete']);
const REFUSAL: RawAnswer = { error: '{"code":-32601,"message":"Method not found"}' };
const NOBODY: RawAnswer = { error: '{"code":-32603,"message":"No call waits for this answer"}' };

export class SharedStream {
  readonly #options: SharedStreamOptions;
  readonly #listeners = new Set<Listener>();
  readonly #open = new Map<RequestId, OpenQuestion>();
  #early: Early[] = [];
  #answering = 0;

  constructor(options: SharedStreamOptions) {
    this.#options = options;
  }

  /** Number of calls under way. */
  get size(): number {
    return this.#listeners.size;
  }

  /** A call begins. Messages that wait may be for it. */
  join(listener: Listener): void {
    this.#listeners.add(listener);
    const since = Date.now() - this.#options.graceMs;
    const early = this.#early.filter(({ at }) => at >= since);
    this.#early = early.filter(({ message }) => !this.#deliver(message));
    for (const open of this.#open.values()) if (!open.holder) this.#give(open);
  }

  /**
   * A call is over. Server requests that it leaves open may belong to another call, which gets them next.
   * @param cancelSent settles when the server knows that the call is over; only then may its requests be answered
   */
  leave(listener: Listener, cancelSent: Promise<unknown> = Promise.resolve()): void {
    this.#listeners.delete(listener);
    for (const open of this.#open.values()) {
      if (open.holder !== listener) continue;
      open.holder = undefined;
      this.#give(open, cancelSent);
    }
  }

  /** Takes a message that is no response. */
  take(message: UpstreamMessage): void {
    if (message.kind === 'request') return this.#takeRequest(message);
    if (message.kind !== 'notification') return;
    const cancelled = cancelledId(message.method, message.text);
    if (cancelled !== undefined) this.#cancel(cancelled, message);
    else if (!this.#deliver(message)) this.#keep(message);
  }

  /** The server cancels a request: its holder gets the cancellation, and no answer is sent. */
  #cancel(id: RequestId, message: Notification): void {
    const open = this.#open.get(id);
    if (!open) return;
    if (open.timer) clearTimeout(open.timer);
    this.#open.delete(id);
    open.holder?.put(message);
  }

  /** The stream is gone, and with it every server request. */
  close(): void {
    for (const { timer } of this.#open.values()) if (timer) clearTimeout(timer);
    this.#open.clear();
    this.#early = [];
    this.#listeners.clear();
  }

  #takeRequest(question: UpstreamRequest): void {
    const { id, method, params } = question;
    // A resumed stream may repeat what it sent before.
    if (this.#open.has(id)) return;
    if (method === 'ping') return void this.#answer(id, { result: '{}' });
    if (!this.#hasRoom(params)) return void this.#answer(id, REFUSAL);
    const open: OpenQuestion = { question, holder: undefined, timer: null };
    this.#open.set(id, open);
    this.#give(open);
  }

  #hasRoom(params: string): boolean {
    let chars = 0;
    for (const { question } of this.#open.values()) chars += question.params.length;
    const fits = chars === 0 || chars + params.length <= MAX_OPEN_CHARS;
    return fits && this.#open.size < MAX_OPEN;
  }

  /** Gives a server request to the call begun last that can answer it, or else to the call begun last, which refuses it by itself. */
  #give(open: OpenQuestion, cancelSent: Promise<unknown> = Promise.resolve()): void {
    const { question } = open;
    const { id, method } = question;
    const listeners = [...this.#listeners].toReversed();
    const holder = listeners.find(listener => listener.canAnswer(method)) ?? listeners[0];
    if (open.timer) clearTimeout(open.timer);
    if (!holder) {
      const refuse = () => {
        if (this.#open.get(id) === open && !open.holder) this.#refuse(id);
      };
      if (this.#options.graceMs === 0) void cancelSent.then(refuse);
      else open.timer = setTimeout(refuse, this.#options.graceMs);
      return;
    }
    open.holder = holder;
    const reply = async (answer: RawAnswer) => {
      if (this.#open.get(id) !== open || open.holder !== holder) return;
      this.#open.delete(id);
      await this.#answer(id, answer);
    };
    holder.put({ ...question, reply });
  }

  #refuse(id: RequestId): void {
    this.#open.delete(id);
    void this.#answer(id, NOBODY);
  }

  /** Answers a server; one that lets so many answers wait gets no more of them. */
  async #answer(id: RequestId, answer: RawAnswer): Promise<void> {
    if (this.#answering >= MAX_ANSWERS) return;
    this.#answering += 1;
    try {
      await this.#options.send(toAnswerText(id, answer));
    } finally {
      this.#answering -= 1;
    }
  }

  /** @returns whether the notification is dealt with; if not, its call may still join */
  #deliver(message: Notification): boolean {
    const listeners = [...this.#listeners];
    const isProgress = message.method === 'notifications/progress';
    if (!isProgress && this.#options.onEvent?.(message)) return true;
    if (!isProgress && !FOR_LAST.has(message.method)) return true;
    const listener = isProgress
      ? withToken(listeners, progressTokenOf(message.text))
      : listeners.at(-1);
    listener?.put(message);
    return listener !== undefined;
  }

  #keep(message: Notification): void {
    if (this.#options.graceMs === 0 || message.text.length > MAX_EARLY_CHARS) return;
    this.#early = [...this.#early, { message, at: Date.now() }].slice(-MAX_EARLY);
  }
}

/** Returns the call that progress is for. A server may send a number that it got back as text. @param token raw JSON */
function withToken(listeners: readonly Listener[], token: string | undefined) {
  if (token === undefined) return undefined;
  return (
    listeners.find(({ progressToken }) => progressToken === token) ??
    listeners.find(({ progressToken }) => progressToken && token === `"${progressToken}"`)
  );
}
