/**
 * Sessions at legacy servers that this isolate opens and reads itself, for calls of clients that answer with their next request. A server
 * request on a session's notification stream does not say which call it belongs to, so such a call has a session to itself while it runs. A
 * Worker on Cloudflare ends 30 seconds after its response, so there the client's object has these sessions
 * (`upstream/streams/notification-streams.ts`, docs/decisions/0007-questions-across-eras.md).
 *
 * Invariants: a session serves one owner, and one call at a time; the request that opened it lives on to read its stream and to end it; a
 * session whose stream is gone, or whose call ended without a response, serves no other call.
 */
import { Lru } from '../shared/util/lru.ts';
import { pause } from '../shared/util/pause.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import { renew, type UpstreamEndpoint } from '../upstream/endpoint.ts';
import { postText } from '../upstream/server-messages.ts';
import { openSession } from '../upstream/session/acquire-session.ts';
import { endSession } from '../upstream/session/end-session.ts';
import { joinStream } from '../upstream/streams/call-listener.ts';
import { SharedStream } from '../upstream/streams/shared-stream.ts';
import { FOR_CALLS, openReading } from '../upstream/streams/stream-reader.ts';
import type { CallSession } from '../upstream/upstream-client.ts';

/** A session is ended once it was idle for this long, or was used by one call for longer than any call lasts; in milliseconds. */
const IDLE_MS = 10_000;
const BUSY_MS = 3_600_000;
/** Calls that find no free session this soon after one another cause one to be opened for the next, in milliseconds. */
const OFTEN_MS = 2_000;
/** Delay before a server that opened no session is tried again, in milliseconds. */
const REST_MS = 60_000;
/** Most sessions of one owner at one server, and of all owners. */
const MOST_OF_OWNER = 64;
const MOST = 500;
const MAX_PLACES = 5_000;

interface Pooled {
  session: CallSession;
  /** A copy of its own, with the newest access token. */
  endpoint: UpstreamEndpoint;
  shared: SharedStream;
  usedAt: number;
  /** Serves no further call. */
  isOver: boolean;
  over: PromiseWithResolvers<void>;
}

/** The sessions of one owner at one server. */
interface Place {
  sessions: Pooled[];
  isOpening: boolean;
  /** When a call last found none, and when one could last not be opened. */
  missedAt: number;
  failedAt: number;
}

export class SessionPool {
  readonly #places = new Lru<string, Place>(MAX_PLACES);
  readonly #maxBytes: number;
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes a free session for one call.
   * @param owner whose calls may share it one after the other; calls of clients with different capabilities have different owners
   * @returns undefined where there is none; where such calls are frequent, one is opened meanwhile
   */
  take(
    owner: string,
    endpoint: UpstreamEndpoint,
    context: Pick<CallContext, 'capabilities' | 'waitUntil'>,
    progressToken: string | undefined,
  ): CallSession | undefined {
    const place = this.#placeOf(owner, endpoint.serverId);
    const free = place.sessions.findLast(known => isFree(known, endpoint));
    if (!free) {
      if (this.#wants(place)) context.waitUntil(this.#keepOne(place, endpoint, context));
      return undefined;
    }
    if (free.endpoint.tokenSerial !== endpoint.tokenSerial) renew(free.endpoint, endpoint);
    free.usedAt = Date.now();
    const { capabilities } = context;
    const joined = joinStream(free.shared, { capabilities, progressToken });
    const listener = {
      take: joined.take,
      close(cancelSent?: Promise<unknown>) {
        joined.close(cancelSent);
        free.usedAt = Date.now();
        if (!cancelSent) return letGo(free);
        // The server may still be working on the call.
        free.isOver = true;
        const go = () => letGo(free);
        cancelSent.then(go, go);
      },
    };
    return { ...free.session, listener };
  }

  /** The server forgot a session of this owner, so its other sessions are dropped too. */
  forget(owner: string, serverId: string): void {
    this.#places.get(placeKey(owner, serverId))?.sessions.forEach(end);
  }

  #placeOf(owner: string, serverId: string): Place {
    const key = placeKey(owner, serverId);
    const known = this.#places.get(key);
    if (known) return known;
    const place = { sessions: [], isOpening: false, missedAt: -Infinity, failedAt: -Infinity };
    this.#places.set(key, place);
    return place;
  }

  /** A call found no session: decides whether to open one for the next. */
  #wants(place: Place): boolean {
    const now = Date.now();
    const isOften = now - place.missedAt < OFTEN_MS;
    place.missedAt = now;
    const hasRoom = place.sessions.length < MOST_OF_OWNER && this.#size < MOST;
    return isOften && hasRoom && !place.isOpening && now - place.failedAt >= REST_MS;
  }

  /** Opens a session and keeps it until it is over. */
  async #keepOne(
    place: Place,
    { ...endpoint }: UpstreamEndpoint,
    { capabilities }: Pick<CallContext, 'capabilities'>,
  ): Promise<void> {
    place.isOpening = true;
    this.#size += 1;
    const controller = new AbortController();
    try {
      const pooled = await this.#open(endpoint, capabilities, controller).catch(() => undefined);
      place.isOpening = false;
      if (!pooled) {
        place.failedAt = Date.now();
        return;
      }
      place.sessions.push(pooled);
      await untilOver(pooled, controller.signal);
      place.sessions = place.sessions.filter(known => known !== pooled);
      controller.abort();
      pooled.shared.close();
      await endSession(endpoint, pooled.session);
    } finally {
      this.#size -= 1;
    }
  }

  /** @returns undefined where the server has no such sessions */
  async #open(
    endpoint: UpstreamEndpoint,
    capabilities: CallContext['capabilities'],
    controller: AbortController,
  ): Promise<Pooled | undefined> {
    const maxBytes = this.#maxBytes;
    const session = await openSession(endpoint, capabilities, maxBytes);
    if (session.sessionId === '') return undefined;
    const protocol = { era: 'legacy' as const, ...session };
    const shared = new SharedStream({
      send: text => postText(endpoint, protocol, text),
      // Messages that concern everybody are read elsewhere; calls that want log messages go through the object.
      onEvent: ({ method }) => method !== 'notifications/elicitation/complete',
      graceMs: 0,
    });
    const usedAt = Date.now();
    const over = Promise.withResolvers<void>();
    const pooled = { session, endpoint, shared, usedAt, isOver: false, over };
    const state = await openReading({
      endpoint: () => endpoint,
      protocol,
      maxBytes,
      take: message => shared.take(message),
      ...FOR_CALLS,
      signal: controller.signal,
      onEnd: () => end(pooled),
    });
    if (state === 'open') return pooled;
    await endSession(endpoint, session);
    return undefined;
  }
}

const placeKey = (owner: string, serverId: string) => `${owner} ${serverId}`;

const isFree = ({ isOver, shared, endpoint }: Pooled, { credentialKey }: UpstreamEndpoint) =>
  !isOver && shared.size === 0 && endpoint.credentialKey === credentialKey;

/** Takes a session out of use. */
function end(pooled: Pooled): void {
  pooled.isOver = true;
  letGo(pooled);
}

/** A session that is over goes once no call uses it. Only the request that keeps it may end it. */
function letGo({ isOver, shared, over }: Pooled): void {
  if (isOver && shared.size === 0) over.resolve();
}

/** Waits until a session was unused for long, or is over before that. */
async function untilOver(pooled: Pooled, signal: AbortSignal): Promise<void> {
  const over = pooled.over.promise.then(() => true);
  for (;;) {
    const longest = pooled.shared.size > 0 ? BUSY_MS : IDLE_MS;
    const rest = pooled.usedAt + longest - Date.now();
    if (rest <= 0) break;
    if (await Promise.race([over, pause(Math.min(rest, IDLE_MS), signal)])) break;
  }
  pooled.isOver = true;
}
