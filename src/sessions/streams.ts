/**
 * The Worker's access to a client's object for streams: a socket for each open stream, and short calls for a session's subscriptions. A
 * resource is watched by its server's monitor on behalf of the objects that want to be notified of it.
 */
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { ObjectsByName } from '../shared/util/objects-by-name.ts';
import type { ClientObject, ResourceMonitor } from './client-object.ts';
import type { JsonObject, LogLevel } from '../shared/protocol.ts';
import {
  toWatchFailure,
  type Audience,
  type ResourceEvent,
  type Subscription,
  type WatchFailure,
} from '../shared/events.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import type { UpstreamEndpoints } from '../upstream/endpoint.ts';
import { readSessions, type SessionReading } from './read-sessions.ts';
import type { StreamOpening } from './stream-opening.ts';

/** Name of the object that holds the listeners of a principal. */
export function listenOwner(principalId: string): string {
  return `listen:${principalId}`;
}

/** Name of the object that relays the messages of an HTTP+SSE client. */
const relayOwner = (id: string) => `sse:${id}`;

export class Streams {
  readonly #objects: ObjectsByName<ClientObject>;
  readonly #monitors: ObjectsByName<ResourceMonitor>;
  readonly #endpoints: UpstreamEndpoints;
  readonly #maxBytes: number;

  constructor(
    objects: ObjectsByName<ClientObject>,
    monitors: ObjectsByName<ResourceMonitor>,
    endpoints: UpstreamEndpoints,
    maxBytes: number,
  ) {
    this.#objects = objects;
    this.#monitors = monitors;
    this.#endpoints = endpoints;
    this.#maxBytes = maxBytes;
  }

  /** Opens the socket on which the events of a stream come, as pieces of frames; not yet accepted. */
  connect({ owner }: StreamOpening): Promise<WebSocket> {
    return this.#socket(owner, 'stream');
  }

  /**
   * Reads the notification streams of a client's sessions at legacy servers in this Worker, for as long as the client's own stream is open.
   * @param servers returns those that the client sees now
   */
  async readSessions(
    owner: string,
    servers: () => Promise<readonly Server[]>,
  ): Promise<SessionReading> {
    const socket = await this.#socket(owner, 'hearing');
    const endpointOf = async (serverId: string) => {
      const server = (await servers()).find(({ id }) => id === serverId);
      if (!server || !isOffered(server.status)) throw new PorticoError('server_disconnected');
      return this.#endpoints.of(server);
    };
    return readSessions(socket, { endpointOf, maxBytes: this.#maxBytes });
  }

  /** Opens the socket on which the messages of a client come, as pieces of frames; not yet accepted. */
  connectRelay(id: string): Promise<WebSocket> {
    return this.#socket(relayOwner(id), 'relay');
  }

  /**
   * Passes a client's message to the Worker that holds its stream.
   * @param authorization header that came with the message, with which the message acts
   * @returns false where no Worker holds the stream
   */
  relay(id: string, text: string, authorization: string): Promise<boolean> {
    return this.#object(relayOwner(id)).relay(text, authorization);
  }

  /**
   * Subscribes an object to a resource at its server.
   * @param capabilities what the client can be asked
   * @returns the failure, if the server refuses
   */
  async watch(
    owner: string,
    { serverId, uri, at }: Subscription,
    capabilities: JsonObject,
  ): Promise<WatchFailure | undefined> {
    if (at !== undefined) {
      return this.#object(at).subscribeInSession({ serverId, uri, owner, capabilities });
    }
    return (await this.#monitors.getByName(serverId).subscribe(owner, uri)) ?? undefined;
  }

  /**
   * Subscribes an object's session to a resource. The subscription is stored before the server is asked, so that no update is missed. If
   * the client repeats a subscription that it holds, only a refusal of the server ends that; a server that does not answer does not. One
   * that is made elsewhere now ends at its former place after that.
   * @throws PorticoError `invalid_params`, or with an `upstream_*` code
   */
  async subscribe(
    owner: string,
    audience: Audience,
    subscription: Subscription,
    capabilities: JsonObject,
  ): Promise<void> {
    const object = this.#object(owner);
    const stored = await object.subscribe(owner, audience, subscription);
    if (!stored)
      throw new PorticoError('invalid_params', 'This session has too many subscriptions');
    const failure = await this.watch(owner, subscription, capabilities).catch((thrown: unknown) =>
      toWatchFailure(toPorticoError(thrown)),
    );
    const isMoved = stored === 'elsewhere';
    if (!failure) return isMoved ? object.unsubscribe(owner, subscription, true) : undefined;
    const { code, detail, serverError } = failure;
    const isHeld = isMoved || stored === 'held';
    if (!isHeld || code === 'upstream_4xx') await object.unsubscribe(owner, subscription);
    throw new PorticoError(code, detail, { serverError });
  }

  async unsubscribe(owner: string, subscription: Subscription): Promise<void> {
    await this.#object(owner).unsubscribe(owner, subscription);
  }

  /** Passes on a resource update that a server sent in response to a request of the object's client. */
  async passUpdate(owner: string, change: ResourceEvent): Promise<void> {
    await this.#object(owner).announce(owner, change);
  }

  /** Sets the log level that a session's client wants. */
  async setLogLevel(owner: string, level: LogLevel): Promise<void> {
    await this.#object(owner).setLogLevel(level);
  }

  async #socket(owner: string, path: string): Promise<WebSocket> {
    const response = await this.#object(owner).fetch(`https://session/${path}`, {
      headers: { upgrade: 'websocket' },
    });
    if (!response.webSocket) throw new Error(`The object gave no socket: ${response.status}`);
    return response.webSocket;
  }

  #object(owner: string) {
    return this.#objects.getByName(owner);
  }
}
