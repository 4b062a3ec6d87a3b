/**
 * Parses an event stream (WHATWG HTML, server-sent events) into events. It knows no protocol above: it reads `event`,
 * `data`, `id` and `retry`, ignores comments, and bounds the size of one event. The console bundles this file.
 */

export interface SseEvent {
  event: string;
  data: string;
}

/** How to resume a stream that ended, from the last values it sent. */
export interface Resumption {
  lastEventId: string;
  /** Milliseconds to wait before; undefined if the stream sent none. */
  retryMs: number | undefined;
}

export class EventTooLarge extends Error {}

/** Lines of an event are joined in groups of so many, since an array of millions of short lines takes many times their length. */
const JOINED_LINES = 1_024;

/** Parses decoded text, in pieces of any size, into events. */
export class SseParser {
  readonly #maxChars: number;
  #pending = '';
  #event = '';
  #data: string[] = [];
  #lines: string[] = [];
  #size = 0;
  #started = false;
  #endedInCr = false;
  /** The id that counts once its event is complete. */
  #id: string;
  #lastEventId: string;
  #retryMs: number | undefined;

  /** @param from what an earlier part of the same stream sent, which holds until it is replaced */
  constructor(maxChars: number, from: Partial<Resumption> = {}) {
    this.#maxChars = maxChars;
    this.#id = this.#lastEventId = from.lastEventId ?? '';
    this.#retryMs = from.retryMs;
  }

  /** @throws EventTooLarge if one event exceeds the limit */
  push(text: string): SseEvent[] {
    if (text === '') return [];
    const events: SseEvent[] = [];
    // The LF of a CRLF that was split across two pieces: its CR has already ended the line.
    const isSkipped = this.#endedInCr
      ? text.startsWith('\n')
      : !this.#started && text[0] === '\ufeff';
    let from = isSkipped ? 1 : 0;
    this.#started = true;
    this.#endedInCr = text.endsWith('\r');
    // Only new text is searched, so that a long line in many pieces costs time linear in its length.
    for (const { index, 0: end } of text.matchAll(/\r\n?|\n/g)) {
      if (index < from) continue;
      const event = this.#line(this.#pending + text.slice(from, index));
      if (event) events.push(event);
      this.#pending = '';
      from = index + end.length;
    }
    this.#pending += text.slice(from);
    if (this.#pending.length + this.#size > this.#maxChars) throw new EventTooLarge();
    return events;
  }

  /** Characters of the event that is not complete yet. */
  get held(): number {
    return this.#pending.length + this.#size;
  }

  /** From where the stream can be resumed: after its last complete event. */
  get resumption(): Resumption {
    return { lastEventId: this.#lastEventId, retryMs: this.#retryMs };
  }

  #line(line: string): SseEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    if (field === 'event') this.#event = value;
    if (field === 'id' && !value.includes('\0')) this.#id = value;
    if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value);
    if (field === 'data') {
      this.#lines.push(value);
      if (this.#lines.length === JOINED_LINES) this.#join();
      this.#size += value.length + 1;
      if (this.#size > this.#maxChars) throw new EventTooLarge();
    }
    return undefined;
  }

  #join(): void {
    this.#data.push(this.#lines.join('\n'));
    this.#lines = [];
  }

  #dispatch(): SseEvent | undefined {
    if (this.#lines.length > 0) this.#join();
    const event =
      this.#data.length === 0
        ? undefined
        : { event: this.#event || 'message', data: this.#data.join('\n') };
    this.#lastEventId = this.#id;
    this.#event = '';
    this.#data = [];
    this.#size = 0;
    return event;
  }
}

/**
 * Yields the events of a byte stream. Ends with the stream, and throws the stream's errors.
 * @param onAbort registers a function that closes the stream, also during a read; returns a function that removes it
 * @param onHeld called with the characters of an event in memory; if it returns a promise, reading waits for it
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  maxChars: number,
  parser = new SseParser(maxChars),
  onAbort: (act: () => void) => () => void = () => () => {},
  onHeld?: (chars: number) => Promise<void> | undefined,
): AsyncGenerator<SseEvent, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });
  const reader = body.getReader();
  const hangUp = () => void reader.cancel().catch(() => {});
  const leave = onAbort(hangUp);
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      const held = parser.held;
      // An event that this piece completes was at most as large as all of it.
      const waiting = onHeld?.(held + value.byteLength);
      if (waiting) await waiting;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    leave();
    if (!isOver) hangUp();
  }
}

/** Calls `act` when a signal aborts, or at once if it has aborted. */
export const whenAborted =
  (signal: AbortSignal) =>
  (act: () => void): (() => void) => {
    signal.addEventListener('abort', act, { once: true });
    if (signal.aborted) act();
    return () => signal.removeEventListener('abort', act);
  };

/** Returns one event as text for an event stream. */
export function toSseText(data: string, event = 'message'): string {
  return toSseParts(data, event).join('');
}

/** As `toSseText`, but in parts, so that a large text is not copied. */
export function toSseParts(data: string, event = 'message'): [string, string, string] {
  return [`event: ${event}\ndata: `, data.replaceAll(/\r\n?|\n/g, '\ndata: '), '\n\n'];
}
