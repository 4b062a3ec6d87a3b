/**
 * What a monitor has open to its server. An open stream keeps its object awake, which is billed by the second on Cloudflare: there a
 * change stream is held only while somebody is subscribed to a resource, and else the lists are polled, the more often while somebody
 * listens. On one machine it is held all the time.
 */
import type { Server } from '../servers/registry/server-schema.ts';
import { HeldWatch } from '../upstream/discovery/held-watch.ts';
import type { UpstreamEndpoints } from '../upstream/endpoint.ts';
import { ScopeWanted } from '../upstream/protocol/status-error.ts';
import { hasStreamOwners } from '../sessions/notifications/stream-store.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { PorticoError } from '../shared/errors/portico-error.ts';
import { StoredWatch } from './watch-memory.ts';

/** The lists of a server that could tell of changes are read within this time while a client listens, in milliseconds. */
const LISTENED_MS = 60_000;

export interface ServerWatchPorts {
  endpoints: Pick<UpstreamEndpoints, 'of' | 'refuse' | 'want'>;
  waitUntil: WaitUntil;
  /** A server refused what it was asked with. */
  onRefused(server: Server): void;
  maxBytes: number;
  /** Whether change streams are held all the time. */
  isHeld: boolean;
  storage: DurableObjectStorage;
  db: D1Database;
  /** The resources somebody is subscribed to. */
  uris(): Promise<readonly string[]>;
  onEvent(): void;
  onUpdated(serverId: string, uri: string, params: string): void;
}

export class ServerWatch {
  readonly held: HeldWatch;
  readonly #ports: ServerWatchPorts;

  constructor(ports: ServerWatchPorts) {
    this.#ports = ports;
    const { endpoints, maxBytes, storage, isHeld, uris, onEvent } = ports;
    const memory = new StoredWatch(storage);
    this.held = new HeldWatch({
      endpointOf: async server => endpoints.of(server),
      memory,
      optionsOf: ({ id, transportType, verdict }) => ({
        transport: transportType === 'SSE' ? 'sse' : 'http',
        legacy: verdict?.legacy,
        maxBytes,
        memory,
        hearsLists: isHeld,
        uris,
        onEvent,
        onUpdated: (uri, params) => ports.onUpdated(id, uri, params),
      }),
    });
  }

  /** A look opens the stream that should be open and is not. */
  async isDeaf(): Promise<boolean> {
    return this.held.current === undefined && (await this.#isWanted());
  }

  /** Within which time the lists are to be read, in milliseconds, whatever else is planned. */
  async lookWithinMs(): Promise<number> {
    const isPolled = this.held.current?.tellsOfLists === true && !(await this.#isWanted());
    return isPolled && (await hasStreamOwners(this.#ports.db)) ? LISTENED_MS : Infinity;
  }

  /** The channel is no good. A token that is refused is replaced; what one lacks is asked for when its owner signs in again. */
  fail(server: Server, error: PorticoError): void {
    const { endpoints, waitUntil, onRefused } = this.#ports;
    const refused = error.code === 'upstream_auth' ? this.held.current?.endpoint : undefined;
    this.held.drop();
    if (error.code === 'upstream_auth') onRefused(server);
    if (refused) waitUntil(endpoints.refuse(server, refused));
    if (error instanceof ScopeWanted) waitUntil(endpoints.want(server, error.scope));
  }

  /** A round is over: nothing stays open that is not wanted. */
  async rest(): Promise<void> {
    if (!(await this.#isWanted())) this.held.current?.rest();
  }

  async #isWanted(): Promise<boolean> {
    return this.#ports.isHeld || (await this.#ports.uris()).length > 0;
  }
}
