/** Holds the one watch of a monitor on its server, and replaces it if the server's address or credential changed. */
import type { Server } from '../../servers/registry/server-schema.ts';
import { renew, type UpstreamEndpoint } from '../endpoint.ts';
import type { WatchMemory } from './known-upstream.ts';
import { UpstreamWatch } from './watch.ts';
import type { WatchOptions } from './watch-options.ts';

export interface HeldWatchOptions {
  endpointOf(server: Server): Promise<UpstreamEndpoint>;
  optionsOf(server: Server): WatchOptions;
  memory: WatchMemory;
}

export class HeldWatch {
  readonly #options: HeldWatchOptions;
  #watch: UpstreamWatch | undefined;

  constructor(options: HeldWatchOptions) {
    this.#options = options;
  }

  /** The present watch, if there is one. */
  get current(): UpstreamWatch | undefined {
    return this.#watch;
  }

  /** @throws PorticoError if the address is not allowed or the credential is unavailable */
  async of(server: Server): Promise<UpstreamWatch> {
    const endpoint = await this.#options.endpointOf(server);
    if (this.#watch?.credentialKey === endpoint.credentialKey) {
      renew(this.#watch.endpoint, endpoint);
      return this.#watch;
    }
    this.#watch?.close();
    this.#watch = new UpstreamWatch(endpoint, this.#options.optionsOf(server));
    return this.#watch;
  }

  /** Drops the watch: the next message negotiates anew. */
  drop(): void {
    this.#watch?.close();
    this.#watch = undefined;
    void this.#options.memory.drop();
  }
}
