/**
 * Subscriptions to resources in a client's own session at a legacy server, stored in the client's object: a server may announce a change
 * only to the session that subscribed.
 *
 * Invariants: a subscription is stored before the server is asked; a server is asked once for each URI of a session, and again in a new
 * session; a subscription that the server refuses is not kept, nor is a new one that fails in another way.
 */
import { isSessionOwner } from '../../shared/identity/object-owners.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { covers, toWatchFailure, type WatchFailure } from '../../shared/events.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { requestSubscription } from './request-subscription.ts';
import type { Channel } from './channel.ts';
import { createDeadline } from '../../http/deadline.ts';
import { SessionForgotten } from '../exchange.ts';

/** A subscription to a resource of a server. */
export interface SessionSubscription {
  serverId: string;
  uri: string;
  /** Name of the object to notify. */
  owner: string;
  /** The client capabilities, with which a new session is opened. */
  capabilities: JsonObject;
}

/** The client's session at a server, with its stream open. */
export interface OpenSession {
  /** Name of the server. */
  name: string;
  /** Different for each session or connection. */
  key: unknown;
  channel: Channel;
  /** Texts that its refusals must not repeat. */
  hidden: readonly string[];
  /** Called if the server forgot the session. */
  forget(): Promise<void>;
}

export interface SessionSubscriptionsPorts {
  storage: DurableObjectStorage;
  /**
   * Returns the session, opened if there is none, with its stream open.
   * @throws PorticoError
   */
  openSession(serverId: string, capabilities: JsonObject): Promise<OpenSession>;
  /**
   * Returns the session that is stored, if there is one; its stream need not be open.
   * @throws PorticoError
   */
  findSession(serverId: string): Promise<OpenSession | undefined>;
  /** Runs work that nobody waits for. */
  waitUntil: WaitUntil;
  /** Called when something is subscribed to: from then on `keep` has to be called now and then. */
  onKept(): Promise<unknown>;
}

const PREFIX = 'session-subscription/';
/** Most subscriptions of one client in its own sessions. */
const MAX = 2_000;
/** Longest time a server may take to accept a subscription, in milliseconds. */
const SUBSCRIBE_MS = 10_000;

interface Subscribed {
  session: OpenSession;
  uris: Set<string>;
}

export class SessionSubscriptions {
  readonly #ports: SessionSubscriptionsPorts;
  readonly #subscribed = new Map<string, Subscribed>();
  /** Subscriptions for which a server is being asked, or is about to be, by server and URI: whether an owner left meanwhile. */
  readonly #asking = new Map<string, boolean>();
  /** Subscriptions that are being ended, in the same way; a server is asked for one again only after that. */
  readonly #ending = new Map<string, Promise<void>>();
  #known: Promise<Map<string, SessionSubscription>> | undefined;
  #servers = new Set<string>();
  #isForOthers = false;

  constructor(ports: SessionSubscriptionsPorts) {
    this.#ports = ports;
  }

  /** Whether there are subscriptions at a server, as far as this object's memory knows. */
  isAt(serverId: string): boolean {
    return this.#servers.has(serverId);
  }

  /** Whether another object is notified through the sessions here; known once `all` was read. */
  get isForOthers(): boolean {
    return this.#isForOthers;
  }

  /** @returns why the server does not announce changes, if so */
  async subscribe(wanted: SessionSubscription): Promise<WatchFailure | undefined> {
    const entries = await this.#entries();
    const key = await keyOf(wanted);
    const isHeld = entries.has(key);
    if (!isHeld && entries.size >= MAX) {
      return { code: 'invalid_params', detail: 'This client has too many subscriptions' };
    }
    await this.#put(key, wanted);
    try {
      await this.#subscribeAt(wanted);
      await this.#ports.onKept();
      return undefined;
    } catch (thrown) {
      if (!isHeld || isRefusal(thrown)) await this.#remove(key);
      const name = this.#subscribed.get(wanted.serverId)?.session.name;
      return toWatchFailure(toPorticoError(thrown), name);
    }
  }

  /**
   * Removes an owner's subscription to a resource; unsubscribes at the server if no owner is left. Nobody waits for the server, since the
   * owner's streams wait for this.
   */
  async unsubscribe({ serverId, uri, owner }: Omit<SessionSubscription, 'capabilities'>) {
    const wasStored = await this.#remove(await keyOf({ serverId, uri, owner }));
    this.#ports.waitUntil(this.#end(serverId, uri, wasStored));
  }

  /** Unsubscribes at the server if no owner wants the resource, after what is being sent there for it. */
  #end(serverId: string, uri: string, wasStored: boolean): Promise<void> {
    const place = placeOf(serverId, uri);
    const before = this.#ending.get(place) ?? Promise.resolve();
    const ending = before
      .then(() => this.#endUnwanted(serverId, uri, wasStored))
      .finally(() => {
        if (this.#ending.get(place) === ending) this.#ending.delete(place);
      });
    this.#ending.set(place, ending);
    return ending;
  }

  /**
   * Unsubscribes at the server if no owner wants the resource.
   * @param wasStored the server may know the subscription though this object's memory does not
   */
  async #endUnwanted(serverId: string, uri: string, wasStored: boolean): Promise<void> {
    const isWanted = [...(await this.#entries()).values()].some(
      entry => entry.serverId === serverId && entry.uri === uri,
    );
    if (isWanted) return;
    const place = placeOf(serverId, uri);
    // What is being asked for ends once the server has answered.
    if (this.#asking.has(place)) return void this.#asking.set(place, true);
    const subscribed = this.#subscribed.get(serverId);
    const isSubscribed = subscribed?.uris.delete(uri) ?? false;
    if (!isSubscribed && !wasStored) return;
    const find = () => this.#ports.findSession(serverId).catch(() => undefined);
    const session = subscribed?.session ?? (await find());
    if (session) await request(session, 'resources/unsubscribe', uri).catch(() => {});
  }

  /** Returns the names of the objects to notify of a resource. */
  async ownersOf(serverId: string, uri: string): Promise<string[]> {
    const entries = [...(await this.#entries()).values()];
    const concerned = entries.filter(
      entry => entry.serverId === serverId && covers(entry.uri, uri),
    );
    return [...new Set(concerned.map(({ owner }) => owner))];
  }

  async all(): Promise<SessionSubscription[]> {
    return [...(await this.#entries()).values()];
  }

  /** The session at a server is gone, and its subscriptions with it. */
  forgot(serverId: string): void {
    this.#subscribed.delete(serverId);
  }

  /** Renews all subscriptions at their servers. A server that fails now is asked again the next time. */
  async keep(): Promise<void> {
    const entries = [...(await this.#entries()).values()];
    const servers = Map.groupBy(entries, ({ serverId }) => serverId);
    await Promise.allSettled(
      [...servers.values()].map(async wanted => {
        for (const one of wanted) await this.#subscribeAt(one).catch(unlessRefused);
      }),
    );
  }

  /** Drops all subscriptions; the caller deletes them from storage. */
  clear(): void {
    this.#subscribed.clear();
    this.#count(new Map());
    this.#known = Promise.resolve(new Map());
  }

  async #subscribeAt(wanted: SessionSubscription): Promise<void> {
    const { serverId, uri } = wanted;
    const place = placeOf(serverId, uri);
    this.#asking.set(place, false);
    await this.#ending.get(place);
    try {
      await this.#ask(wanted);
    } finally {
      const wasLeft = this.#asking.get(place) ?? false;
      this.#asking.delete(place);
      if (wasLeft) await this.#end(serverId, uri, true);
    }
  }

  /** Subscribes at a server, in its present session; once more if the server forgot that one. */
  async #ask({ serverId, uri, capabilities }: SessionSubscription): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.#ports.openSession(serverId, capabilities);
      const subscribed = this.#subscribedIn(serverId, session);
      if (subscribed.uris.has(uri)) return;
      try {
        await request(session, 'resources/subscribe', uri);
        subscribed.uris.add(uri);
        return;
      } catch (error) {
        if (!(error instanceof SessionForgotten)) throw error;
        await session.forget();
        if (attempt > 1) throw new PorticoError('upstream_session');
      }
    }
  }

  #subscribedIn(serverId: string, session: OpenSession): Subscribed {
    const known = this.#subscribed.get(serverId);
    if (known && known.session.key === session.key) return known;
    const subscribed = { session, uris: new Set<string>() };
    this.#subscribed.set(serverId, subscribed);
    return subscribed;
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

  /** @returns whether it was there */
  async #remove(key: string): Promise<boolean> {
    const entries = await this.#entries();
    if (!entries.delete(key)) return false;
    this.#count(entries);
    await this.#ports.storage.delete(key);
    return true;
  }

  #count(entries: ReadonlyMap<string, SessionSubscription>): void {
    this.#servers = new Set([...entries.values()].map(({ serverId }) => serverId));
    this.#isForOthers = [...entries.values()].some(({ owner }) => !isSessionOwner(owner));
  }
}

const placeOf = (serverId: string, uri: string) => `${serverId} ${uri}`;

/** A URI and an owner's name together may be longer than a storage key. */
async function keyOf({ serverId, uri, owner }: Omit<SessionSubscription, 'capabilities'>) {
  return PREFIX + (await sha256Hex(JSON.stringify([serverId, uri, owner])));
}

const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof PorticoError && thrown.code === 'upstream_4xx';

/** One resource that a server refuses, as one that it no longer has, keeps no other from being subscribed to. */
function unlessRefused(thrown: unknown): void {
  if (!isRefusal(thrown)) throw thrown;
}

type Method = Parameters<typeof requestSubscription>[1];

/** @throws PorticoError, SessionForgotten */
async function request({ channel, hidden }: OpenSession, method: Method, uri: string) {
  const deadline = createDeadline(SUBSCRIBE_MS);
  try {
    await requestSubscription(uri, method, channel, deadline, hidden);
  } finally {
    deadline.release();
  }
}
