/**
 * Resources that are subscribed to in a client's own session at a legacy server, as the client's
 * object keeps them: a server may tell a session of what that session did, and nobody else.
 *
 * Invariants: a subscription is stored before the server is asked; a server is asked once for each
 * URI of a session, and again in a new session; what the server refuses is not kept.
 */
import { isSessionOwner } from '../../shared/identity/object-owners.ts';
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { covers, toWatchFailure, type WatchFailure } from '../../shared/events.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { askAbout } from './ask-about.ts';
import type { Channel } from './channel.ts';
import { createDeadline } from '../../http/deadline.ts';
import { SessionForgotten } from '../exchange.ts';

/** Who wants to hear of a resource of a server. */
export interface SessionSubscription {
  serverId: string;
  uri: string;
  /** Name of the object that is told. */
  owner: string;
  /** What the client can be asked: a new session is opened with that. */
  capabilities: JsonObject;
}

/** The client's session at a server, which is heard. */
export interface HeardSession {
  /** Name of the server. */
  name: string;
  /** Another one for each session or connection. */
  key: unknown;
  channel: Channel;
  /** What its refusals must not repeat. */
  hidden: readonly string[];
  /** The server forgot it. */
  forget(): Promise<void>;
}

export interface SessionSubscriptionsPorts {
  storage: DurableObjectStorage;
  /**
   * Opens the session where there is none, and has its stream open.
   * @throws PorticoError
   */
  hear(serverId: string, capabilities: JsonObject): Promise<HeardSession>;
  /** Told when something is subscribed to: `keep` is to be called now and then. */
  onKept(): Promise<unknown>;
}

const PREFIX = 'session-subscription/';
/** Most subscriptions of one client in its own sessions. */
const MAX = 2_000;
/** Longest time a server may take to accept one, in milliseconds. */
const ASK_MS = 10_000;

interface Asked {
  session: HeardSession;
  uris: Set<string>;
}

export class SessionSubscriptions {
  readonly #ports: SessionSubscriptionsPorts;
  readonly #asked = new Map<string, Asked>();
  #known: Promise<Map<string, SessionSubscription>> | undefined;
  /** Servers that something is subscribed to at. */
  #servers = new Set<string>();
  #isForOthers = false;

  constructor(ports: SessionSubscriptionsPorts) {
    this.#ports = ports;
  }

  /** Whether something is subscribed to at a server, as far as this object's memory knows. */
  isAt(serverId: string): boolean {
    return this.#servers.has(serverId);
  }

  /** Whether another object hears of resources by the sessions here; `all` has to have been read. */
  get isForOthers(): boolean {
    return this.#isForOthers;
  }

  /** @returns why the server does not tell, if so */
  async subscribe(wanted: SessionSubscription): Promise<WatchFailure | undefined> {
    const entries = await this.#entries();
    const key = await keyOf(wanted);
    if (!entries.has(key) && entries.size >= MAX) {
      return { code: 'invalid_params', detail: 'This client has too many subscriptions' };
    }
    await this.#put(key, wanted);
    try {
      await this.#ask(wanted);
      await this.#ports.onKept();
      return undefined;
    } catch (thrown) {
      await this.#remove(key);
      const name = this.#asked.get(wanted.serverId)?.session.name;
      return toWatchFailure(toPorticoError(thrown), name);
    }
  }

  /** An owner no longer wants to hear of a resource; the server is told where nobody does. */
  async unsubscribe({ serverId, uri, owner }: Omit<SessionSubscription, 'capabilities'>) {
    await this.#remove(await keyOf({ serverId, uri, owner }));
    const left = [...(await this.#entries()).values()].filter(
      entry => entry.serverId === serverId && entry.uri === uri,
    );
    const asked = this.#asked.get(serverId);
    if (left.length > 0 || !asked?.uris.delete(uri)) return;
    await request(asked.session, 'resources/unsubscribe', uri).catch(() => {});
  }

  /** Names of the objects that are to hear of a resource. */
  async ownersOf(serverId: string, uri: string): Promise<string[]> {
    const entries = [...(await this.#entries()).values()];
    const concerned = entries.filter(
      entry => entry.serverId === serverId && covers(entry.uri, uri),
    );
    return [...new Set(concerned.map(({ owner }) => owner))];
  }

  /** All there are. */
  async all(): Promise<SessionSubscription[]> {
    return [...(await this.#entries()).values()];
  }

  /** The session at a server is gone, and what was asked of it. */
  forgot(serverId: string): void {
    this.#asked.delete(serverId);
  }

  /** Have every server tell what is subscribed to. One that cannot now is asked the next time. */
  async keep(): Promise<void> {
    const entries = [...(await this.#entries()).values()];
    const servers = Map.groupBy(entries, ({ serverId }) => serverId);
    await Promise.allSettled(
      [...servers.values()].map(async wanted => {
        for (const one of wanted) await this.#ask(one);
      }),
    );
  }

  /** Nothing is wanted any more; storage is the caller's to delete. */
  clear(): void {
    this.#asked.clear();
    this.#count(new Map());
    this.#known = Promise.resolve(new Map());
  }

  /** Ask a server for a resource, in the session there is by now; once more where that was forgotten. */
  async #ask({ serverId, uri, capabilities }: SessionSubscription): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.#ports.hear(serverId, capabilities);
      const asked = this.#askedIn(serverId, session);
      if (asked.uris.has(uri)) return;
      try {
        await request(session, 'resources/subscribe', uri);
        asked.uris.add(uri);
        return;
      } catch (error) {
        if (!(error instanceof SessionForgotten)) throw error;
        await session.forget();
        if (attempt > 1) throw new PorticoError('upstream_session');
      }
    }
  }

  #askedIn(serverId: string, session: HeardSession): Asked {
    const known = this.#asked.get(serverId);
    if (known && known.session.key === session.key) return known;
    const asked = { session, uris: new Set<string>() };
    this.#asked.set(serverId, asked);
    return asked;
  }

  #entries(): Promise<Map<string, SessionSubscription>> {
    this.#known ??= this.#ports.storage
      .list<SessionSubscription>({ prefix: PREFIX })
      .then(stored => {
        this.#count(stored);
        return new Map(stored);
      });
    return this.#known;
  }

  async #put(key: string, entry: SessionSubscription): Promise<void> {
    const entries = await this.#entries();
    this.#count(entries.set(key, entry));
    await this.#ports.storage.put(key, entry);
  }

  async #remove(key: string): Promise<void> {
    const entries = await this.#entries();
    if (!entries.delete(key)) return;
    this.#count(entries);
    await this.#ports.storage.delete(key);
  }

  #count(entries: ReadonlyMap<string, SessionSubscription>): void {
    this.#servers = new Set([...entries.values()].map(({ serverId }) => serverId));
    this.#isForOthers = [...entries.values()].some(({ owner }) => !isSessionOwner(owner));
  }
}

/** A URI and an owner's name may be longer than a key together. */
async function keyOf({ serverId, uri, owner }: Omit<SessionSubscription, 'capabilities'>) {
  return PREFIX + (await sha256Hex(JSON.stringify([serverId, uri, owner])));
}

type Method = Parameters<typeof askAbout>[1];

/** @throws PorticoError, SessionForgotten */
async function request({ channel, hidden }: HeardSession, method: Method, uri: string) {
  const deadline = createDeadline(ASK_MS);
  try {
    await askAbout(uri, method, channel, deadline, hidden);
  } finally {
    deadline.release();
  }
}
