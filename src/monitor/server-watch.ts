/**
 * The channel and the change stream of a monitor to its server. An open stream keeps its object awake, which Cloudflare bills by the
 * second: there a change stream is open only while a client is subscribed to a resource; otherwise the lists are polled, more often while a
 * client listens. On one machine the stream is always open.
 */
import type { Server } from '../servers/registry/server-schema.ts';
import { HeldWatch } from '../upstream/discovery/held-watch.ts';
import type { UpstreamEndpoints } from '../upstream/endpoint.ts';
import { ScopeWanted } from '../upstream/protocol/status-error.ts';
import { hasStreamOwners } from '../sessions/notifications/stream-store.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { PorticoError } from '../shared/errors/portico-error.ts';
import { StoredWatch } from './watch-memory.ts';

/** While a client listens, the lists of a server that could announce changes are read within this time, in milliseconds. */
const LISTENED_MS = 60_000;

export interface ServerWatchPorts {
  endpoints: Pick<UpstreamEndpoints, 'of' | 'refuse' | 'want'>;
  waitUntil: WaitUntil;
  /** Called when a server refused the credential. */
  onRefused(server: Server): void;
  maxBytes: number;
  /** Whether change streams are always open. */
  isHeld: boolean;
  storage: DurableObjectStorage;
  db: D1Database;
  /** The URIs of the resources that have subscribers. */
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
        wantsLists: isHeld,
        uris,
        onEvent,
        onUpdated: (uri, params) => ports.onUpdated(id, uri, params),
      }),
    });
  }

  /** Whether the change stream should be open but is not; a discovery opens it. */
  async lacksStream(): Promise<boolean> {
    return this.held.current === undefined && (await this.#isWanted());
  }

  /** Time within which the lists must be read, in milliseconds, whatever else is scheduled. */
  async discoverWithinMs(): Promise<number> {
    const isPolled = this.held.current?.announcesLists === true && !(await this.#isWanted());
    return isPolled && (await hasStreamOwners(this.#ports.db)) ? LISTENED_MS : Infinity;
  }

  /** Drops the channel after an error. A refused token is replaced; a missing scope is requested when the account's owner next signs in. */
  fail(server: Server, error: PorticoError): void {
    const { endpoints, waitUntil, onRefused } = this.#ports;
    const refused = error.code === 'upstream_auth' ? this.held.current?.endpoint : undefined;
    this.held.drop();
    if (error.code === 'upstream_auth') onRefused(server);
    if (refused) waitUntil(endpoints.refuse(server, refused));
    if (error instanceof ScopeWanted) waitUntil(endpoints.want(server, error.scope));
  }

  /** Ends a cycle: closes what does not have to stay open. */
  async rest(): Promise<void> {
    if (!(await this.#isWanted())) this.held.current?.rest();
  }

  async #isWanted(): Promise<boolean> {
    return this.#ports.isHeld || (await this.#ports.uris()).length > 0;
  }
}
