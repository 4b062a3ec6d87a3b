/**
 * The events of a legacy session's notification stream, in the object's storage: written before they are sent, bounded in number and bytes,
 * the oldest dropped first.
 *
 * Invariants: numbers grow by one and are never reused; an event belongs to at most one stream, since a message may be sent on one stream
 * only (2025-11-25, transports, Multiple Connections).
 */

export interface LoggedEvent {
  /** The stream that it was sent on; null while there was no connection to send it on. */
  stream: string | null;
  serverId: string;
  text: string;
}

export interface LogLimits {
  maxEvents: number;
  maxBytes: number;
}

interface Head {
  last: number;
  events: number;
  bytes: number;
}

const HEAD = 'log';
const PREFIX = 'event/';
const DIGITS = 12;

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const keyOf = (number: number) => `${PREFIX}${String(number).padStart(DIGITS, '0')}`;

export class EventLog {
  readonly #storage: DurableObjectStorage;
  readonly #limits: LogLimits;

  constructor(storage: DurableObjectStorage, limits: LogLimits) {
    this.#storage = storage;
    this.#limits = limits;
  }

  /** Writes an event. @returns its number */
  async append(event: LoggedEvent): Promise<number> {
    const head = (await this.#storage.get<Head>(HEAD)) ?? { last: 0, events: 0, bytes: 0 };
    const number = head.last + 1;
    const bytes = head.bytes + bytesOf(event.text);
    const kept = await this.#trim({ last: number, events: head.events + 1, bytes });
    await this.#storage.put({ [HEAD]: kept, [keyOf(number)]: event });
    return number;
  }

  /** Returns all stored events, oldest first. */
  async read(): Promise<[number: number, event: LoggedEvent][]> {
    const stored = await this.#storage.list<LoggedEvent>({ prefix: PREFIX });
    return [...stored].map(([key, event]) => [Number(key.slice(PREFIX.length)), event]);
  }

  /** Assigns a waiting event to the stream that it is sent on. */
  async assign(number: number, event: LoggedEvent): Promise<void> {
    await this.#storage.put(keyOf(number), event);
  }

  /** Drops the oldest events until the new one fits. */
  async #trim(head: Head): Promise<Head> {
    const { maxEvents, maxBytes } = this.#limits;
    let { events, bytes } = head;
    while (events > 1 && (events > maxEvents || bytes > maxBytes)) {
      const [oldest] = await this.#storage.list<LoggedEvent>({ prefix: PREFIX, limit: 1 });
      if (!oldest) break;
      const [key, event] = oldest;
      await this.#storage.delete(key);
      events -= 1;
      bytes -= bytesOf(event.text);
    }
    return { last: head.last, events, bytes };
  }
}
