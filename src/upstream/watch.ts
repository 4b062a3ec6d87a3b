/**
 * A monitor's standing relation to one upstream: negotiated once, its channel kept, its change
 * stream open where it has one. `look` reads the tools; a channel that fails is replaced by a
 * fresh negotiation once, since reading a list again does no harm.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { isObject, type JsonObject } from '../protocol.ts';
import type { Verdict } from '../registry/server-schema.ts';
import type { Deadline } from './deadline.ts';
import { endSession } from './end-session.ts';
import { discover, type Discovered } from './discover.ts';
import { SessionForgotten } from './exchange.ts';
import { listen } from './listen.ts';
import { negotiate, type Negotiated } from './negotiate.ts';
import type { Destination } from './destination.ts';

export interface WatchOptions {
  transport: 'http' | 'sse';
  maxBytes: number;
  /** The server told that one of its lists changed, or its stream ended: it is worth a look. */
  onNews(): void;
}

/** A stream that lived this long was a real one, in milliseconds. */
const STABLE_MS = 5_000;
const LIST_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;

/** What a look found. */
export interface Looked extends Discovered {
  verdict: Verdict;
  capabilities: JsonObject;
  instructions: string | undefined;
}

export class UpstreamWatch {
  readonly credentialKey: string;
  readonly #destination: Destination;
  readonly #options: WatchOptions;
  readonly #controller = new AbortController();
  #negotiated: Negotiated | undefined;
  #listening = false;
  #closed = false;

  constructor(destination: Destination, options: WatchOptions) {
    this.credentialKey = destination.credentialKey;
    this.#destination = destination;
    this.#options = options;
  }

  /** @throws PorticoError with an `upstream_*` code */
  async look(deadline: Deadline): Promise<Looked> {
    const held = this.#negotiated;
    if (held) {
      try {
        return await this.#read(held, deadline);
      } catch (error) {
        const isKnown = error instanceof PorticoError || error instanceof SessionForgotten;
        if (!isKnown || deadline.signal.aborted) throw error;
        this.#drop();
      }
    }
    const fresh = await this.#negotiate(deadline);
    return this.#read(fresh, deadline);
  }

  /** Stop listening and end the session at the server, as a courtesy nobody waits for. */
  close(): void {
    this.#closed = true;
    this.#controller.abort();
    this.#drop();
  }

  #drop(): void {
    const negotiated = this.#negotiated;
    this.#negotiated = undefined;
    negotiated?.channel.close();
    const { sessionId = '', protocolVersion = '' } = negotiated?.manner ?? {};
    void endSession(this.#destination, { sessionId, protocolVersion });
  }

  async #negotiate(deadline: Deadline): Promise<Negotiated> {
    const { transport, maxBytes } = this.#options;
    const onNotification = (method: string) => this.#hear(method);
    const negotiated = await negotiate(
      this.#destination,
      { transport, maxBytes, onNotification },
      deadline,
    );
    this.#negotiated = negotiated;
    return negotiated;
  }

  /** Listen before the list is read, so that no change falls between. */
  async #read(negotiated: Negotiated, deadline: Deadline): Promise<Looked> {
    const { verdict, channel, manner, capabilities, instructions } = negotiated;
    const tells = tellsOfChanges(capabilities);
    if (tells.length > 0 && verdict.transport === 'http' && !this.#listening) {
      const stream = await listen(
        this.#destination,
        manner,
        tells,
        method => this.#hear(method),
        this.#controller.signal,
      );
      if (stream) {
        this.#listening = true;
        void this.#follow(stream.ended);
      }
    }
    const discovered = await discover(channel, capabilities, deadline);
    return { ...discovered, verdict, capabilities, instructions };
  }

  /** An end after a while is news: the server may be gone. One at once would make a loop. */
  async #follow(ended: Promise<void>): Promise<void> {
    const openedAt = Date.now();
    await ended;
    this.#listening = false;
    if (Date.now() - openedAt > STABLE_MS && !this.#closed) this.#options.onNews();
  }

  #hear(method: string): void {
    if (LIST_CHANGED.test(method)) this.#options.onNews();
  }
}

/** The lists of which a server says that it tells when they change. */
function tellsOfChanges(capabilities: JsonObject): string[] {
  return ['tools', 'resources', 'prompts'].filter(name => {
    const capability = capabilities[name];
    return isObject(capability) && capability['listChanged'] === true;
  });
}
