/** The one standing relation of a monitor to its server, renewed where the server's address or credential changed. */
import type { Server } from '../../servers/registry/server-schema.ts';
import { renew, type Destination } from '../endpoint.ts';
import { UpstreamWatch, type WatchOptions } from './watch.ts';

export interface HeldWatchOptions {
  destinationOf(server: Server): Promise<Destination>;
  optionsOf(server: Server): WatchOptions;
}

export class HeldWatch {
  readonly #options: HeldWatchOptions;
  #watch: UpstreamWatch | undefined;

  constructor(options: HeldWatchOptions) {
    this.#options = options;
  }

  /** The relation there is, if any. */
  get current(): UpstreamWatch | undefined {
    return this.#watch;
  }

  /** @throws PorticoError where the address is not allowed or the credential cannot be had */
  async of(server: Server): Promise<UpstreamWatch> {
    const destination = await this.#options.destinationOf(server);
    if (this.#watch?.credentialKey === destination.credentialKey) {
      renew(this.#watch.destination, destination);
      return this.#watch;
    }
    this.drop();
    this.#watch = new UpstreamWatch(destination, this.#options.optionsOf(server));
    return this.#watch;
  }

  drop(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }
}
