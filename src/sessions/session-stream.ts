/**
 * A legacy session's notification stream, independent of any connection: the streams it had, what was sent on them, what waits, and the
 * resources that the session subscribed to. All of it is in the object's storage.
 *
 * Invariants: an event is logged before it is sent; it is sent on one stream only; an event without a connection goes to the next one that
 * comes; a stream gets nothing of a server that it may not know about. Source: MCP 2025-11-25, transports, Resumability and Redelivery.
 */
import { randomBytes, sha256Hex, toBase64Url } from '../shared/crypto/base64url.ts';
import type { Stored } from './client-object.ts';
import { EventLog, type LogLimits } from './event-log.ts';
import {
  changedSince,
  changedText,
  mayReceive,
  updatedTexts,
  type Audience,
  type ListName,
  type ListEvent,
  type ChangeEvent,
  type ResourceEvent,
  type Seen,
  type Subscription,
} from '../shared/events.ts';
import type { StreamEvent } from './stream-opening.ts';

interface State {
  audience: Audience;
  /** The client's lists when it was last notified. */
  seen?: Seen;
  /** Lists that changed while there was no connection, by server. */
  pending?: Record<string, readonly ListName[]>;
  /** Ids of the session's streams, newest last. */
  streams: string[];
  /** When the last connection closed; absent while there is one. */
  closedAt?: number;
}

const STATE = 'stream-state';
const SUBSCRIPTION = 'subscription/';
/** Most streams of one session that can be resumed. */
const MAX_STREAMS = 16;
/** Most servers whose changes are remembered for a disconnected session; older changes show when its lists are compared. */
const MAX_PENDING = 200;
/** Most resources that one session may subscribe to. */
const MAX_SUBSCRIPTIONS = 1_000;

export class SessionStream {
  readonly #storage: DurableObjectStorage;
  readonly #log: EventLog;
  readonly #resumeMs: number;

  /** @param resumeMs how long events are logged after the last connection closed, in milliseconds */
  constructor(storage: DurableObjectStorage, limits: LogLimits, resumeMs: number) {
    this.#storage = storage;
    this.#log = new EventLog(storage, limits);
    this.#resumeMs = resumeMs;
  }

  /**
   * Opens a connection. An id that is not of this session opens a new stream.
   * @param seen the client's lists; where the session was connected before, its lists of that time are kept
   * @returns the stream and what to send on it: first the id to resume from
   */
  async open(
    audience: Audience,
    seen: Seen,
    lastEventId: string | undefined,
  ): Promise<{ stream: string; events: StreamEvent[] }> {
    const state = await this.#storage.get<State>(STATE);
    const [, known = '', number] = /^([\w-]+)\.(\d{1,15})$/.exec(lastEventId ?? '') ?? [];
    const isKnown = state?.streams.includes(known) ?? false;
    const stream = isKnown ? known : toBase64Url(randomBytes(9));
    const after = isKnown ? Number(number) : 0;
    const others = (state?.streams ?? []).filter(id => id !== stream);
    const streams = [...others, stream].slice(-MAX_STREAMS);
    const { pending = {}, seen: before = seen } = state ?? {};
    await this.#storage.put<State>(STATE, { audience, seen: before, pending, streams });
    return { stream, events: await this.#missed(stream, after, audience) };
  }

  /** Returns what a stream missed after an event, and what waited for any stream. */
  async #missed(stream: string, after: number, audience: Audience): Promise<StreamEvent[]> {
    const events = [{ id: `${stream}.${after}`, text: '' }];
    for (const [number, event] of await this.#log.read()) {
      const isWaiting = event.stream === null && mayReceive(audience, event.serverId);
      if (isWaiting) await this.#log.assign(number, { ...event, stream });
      if (isWaiting || (event.stream === stream && number > after)) {
        events.push({ id: `${stream}.${number}`, text: event.text });
      }
    }
    return events;
  }

  /** The last connection has closed. */
  async close(): Promise<void> {
    const state = await this.#storage.get<State>(STATE);
    if (state) await this.#storage.put<State>(STATE, { ...state, closedAt: Date.now() });
  }

  /** Whether a client is connected, or may come back for what is logged. */
  async isWanted(): Promise<boolean> {
    const state = await this.#storage.get<State>(STATE);
    return state !== undefined && Date.now() - (state.closedAt ?? Infinity) <= this.#resumeMs;
  }

  /**
   * Takes the client's current lists and logs those that changed.
   * @param reported lists that are said to have changed
   * @param stream id of the stream that the client is notified on
   */
  async recheck(seen: Seen, reported: readonly ListName[], stream: string): Promise<StreamEvent[]> {
    const state = await this.#storage.get<State>(STATE);
    if (!state) return [];
    const isSame = JSON.stringify(state.seen) === JSON.stringify(seen);
    if (!isSame || Object.keys(state.pending ?? {}).length > 0) {
      await this.#storage.put<State>(STATE, { ...state, seen, pending: {} });
    }
    const events: StreamEvent[] = [];
    for (const list of changedSince(state.seen, seen, reported)) {
      const text = changedText(list);
      const number = await this.#log.append({ stream, serverId: '', text });
      events.push({ id: `${stream}.${number}`, text });
    }
    return events;
  }

  /** Remembers that lists of a server changed while there is no connection to ask what the client sees of it. */
  async remember(change: Exclude<ChangeEvent, ResourceEvent>): Promise<void> {
    const state = await this.#storage.get<State>(STATE);
    if (!state || 'access' in change) return;
    const { [change.serverId]: known = [], ...others } = state.pending ?? {};
    const kept = Object.entries(others).slice(1 - MAX_PENDING);
    const lists = [...new Set([...known, ...change.lists])];
    const pending = { ...Object.fromEntries(kept), [change.serverId]: lists };
    await this.#storage.put<State>(STATE, { ...state, pending });
  }

  /** Returns the remembered changes. */
  async pending(): Promise<ListEvent[]> {
    const state = await this.#storage.get<State>(STATE);
    return Object.entries(state?.pending ?? {}).map(([serverId, lists]) => ({ serverId, lists }));
  }

  /**
   * Logs the session's notifications of a resource.
   * @param open ids of the connected streams that may get them, newest first
   * @returns the events to send on the first of these
   */
  async logUpdates(change: ResourceEvent, open: readonly string[]): Promise<StreamEvent[]> {
    const { serverId } = change;
    const state = await this.#storage.get<State>(STATE);
    const [stream] = open;
    if (!state || (stream === undefined && !mayReceive(state.audience, serverId))) return [];
    const events: StreamEvent[] = [];
    for (const text of updatedTexts(change, await this.subscriptions())) {
      const number = await this.#log.append({ stream: stream ?? null, serverId, text });
      events.push({ id: `${stream}.${number}`, text });
    }
    return events;
  }

  /** Stores a subscription; one that was made elsewhere stays as it is until `move`. */
  async subscribe(audience: Audience, subscription: Subscription): Promise<Stored> {
    const key = await subscriptionKey(subscription);
    const held = await this.#storage.list<Subscription>({ prefix: SUBSCRIPTION });
    const former = held.get(key);
    if (!former && held.size >= MAX_SUBSCRIPTIONS) return false;
    if (former && former.at !== subscription.at) return 'elsewhere';
    await this.#storage.put(key, subscription);
    if ((await this.#storage.get(STATE)) === undefined) {
      await this.#storage.put<State>(STATE, { audience, streams: [], closedAt: Date.now() });
    }
    return former ? 'held' : 'new';
  }

  /**
   * Notes where a subscription is made now.
   * @returns the one to end: the former, or this one if the session's subscription ended meanwhile
   */
  async move(subscription: Subscription): Promise<Subscription | undefined> {
    const key = await subscriptionKey(subscription);
    const former = await this.#storage.get<Subscription>(key);
    if (!former) return subscription;
    await this.#storage.put(key, subscription);
    return former.at === subscription.at ? undefined : former;
  }

  /** @returns the subscription as it was made, or this one if there was none */
  async unsubscribe(subscription: Subscription): Promise<Subscription> {
    const key = await subscriptionKey(subscription);
    const made = await this.#storage.get<Subscription>(key);
    await this.#storage.delete(key);
    return made ?? subscription;
  }

  async subscriptions(): Promise<Subscription[]> {
    const stored = await this.#storage.list<Subscription>({ prefix: SUBSCRIPTION });
    return [...stored.values()];
  }
}

/** A hash, since a URI may be longer than a storage key. */
async function subscriptionKey({ serverId, uri }: Subscription): Promise<string> {
  return SUBSCRIPTION + (await sha256Hex(`${serverId} ${uri}`));
}
