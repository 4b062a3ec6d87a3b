/**
 * Subscriptions to a server's resources, in its monitor: one at the server for each URI, however many objects subscribe. Updates are
 * forwarded to those objects.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import { toPorticoError } from '../shared/errors/portico-error.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import { toWatchFailure, type ResourceEvent, type WatchFailure } from '../shared/events.ts';
import { createUpdates, updateKey } from '../sessions/notifications/updates.ts';
import type { Deadline } from '../http/deadline.ts';
import type { HeldWatch } from '../upstream/discovery/held-watch.ts';
import type { Subscribers } from './subscribers.ts';
import type { ChangeNotifier } from './change-notifier.ts';

/** Time limit for the server to accept a subscription, in milliseconds. */
const SUBSCRIBE_MS = 10_000;

export interface ResourceSubscriptionsPorts {
  subscribers: Subscribers;
  watch: HeldWatch;
  notifier: ChangeNotifier;
  createDeadline(timeoutMs: number): Deadline;
  /** Runs background work. */
  waitUntil: WaitUntil;
}

export class ResourceSubscriptions {
  readonly #ports: ResourceSubscriptionsPorts;
  /**
   * The last change in progress of each URI's subscribers; the next waits for it, since the server may refuse, and a subscription cannot be
   * ended before it was made.
   */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #updates = createUpdates(change => this.#notify(change));

  constructor(ports: ResourceSubscriptionsPorts) {
    this.#ports = ports;
  }

  /** Subscribes an object to a resource. @returns why the server will not notify, if so; one that is not offered any more is not asked */
  async subscribe(
    server: Server | undefined,
    owner: string,
    uri: string,
  ): Promise<WatchFailure | undefined> {
    if (!server || !isOffered(server.status)) {
      return { code: 'resource_not_found', detail: `Resource not found: ${uri}` };
    }
    const deadline = this.#ports.createDeadline(SUBSCRIBE_MS);
    const subscribing = () => this.#subscribeNow(server, owner, uri, deadline);
    return this.#inTurn(uri, subscribing).finally(() => deadline.release());
  }

  async #subscribeNow(
    server: Server,
    owner: string,
    uri: string,
    deadline: Deadline,
  ): Promise<WatchFailure | undefined> {
    const { subscribers, watch } = this.#ports;
    const isHeld = await subscribers.has(owner, uri);
    const isFirst = await subscribers.add(owner, uri);
    if (isFirst === undefined) {
      return { code: 'invalid_params', detail: 'This server has too many subscriptions' };
    }
    if (!isFirst && watch.current) return undefined;
    try {
      await (await watch.of(server)).subscribe(uri, deadline);
      return undefined;
    } catch (thrown) {
      const failure = toWatchFailure(toPorticoError(thrown), server.name);
      // A repeat that gets no answer leaves the subscription that the object has.
      if (!isHeld || failure.code === 'upstream_4xx') await subscribers.remove(owner, uri);
      return failure;
    }
  }

  /** Ends an object's subscription to a resource. */
  unsubscribe(owner: string, uri: string): Promise<void> {
    const { subscribers, watch, waitUntil } = this.#ports;
    return this.#inTurn(uri, async () => {
      const wasLast = await subscribers.remove(owner, uri);
      const { current } = watch;
      if (wasLast && current) waitUntil(current.unsubscribe(uri));
    });
  }

  async #inTurn<T>(uri: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(uri) ?? Promise.resolve();
    const result = before.then(work);
    const turn = result.catch(() => {});
    this.#turns.set(uri, turn);
    try {
      return await result;
    } finally {
      if (this.#turns.get(uri) === turn) this.#turns.delete(uri);
    }
  }

  /** Forwards a server's update of a resource to the subscribed objects, in batches. */
  updated(serverId: string, uri: string, params: string): Promise<void> {
    const change = { serverId, uri, params };
    return this.#updates.add(updateKey(change), change);
  }

  async #notify(change: readonly ResourceEvent[]): Promise<void> {
    for (const each of change) await this.#notifyOf(each);
  }

  async #notifyOf({ serverId, uri, params }: ResourceEvent): Promise<void> {
    const subscribers = await this.#ports.subscribers.of(uri);
    const owners = [...new Set(subscribers.map(({ owner }) => owner))];
    const done = await this.#ports.notifier.notify(owners, { serverId, uri, params });
    for (const { owner, uri: subscribed } of subscribers) {
      if (done.includes(owner)) await this.unsubscribe(owner, subscribed);
    }
  }
}
