/**
 * The stream on which a server announces changes to its monitor. If other resources are wanted, another stream is opened, which takes over
 * with its first message, so that no change is lost in between.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { listen, type Listening } from '../streams/listen.ts';
import type { Negotiated } from './negotiate.ts';
import type { WatchOptions } from './watch-options.ts';

/** A stream that lived this long counts as one that worked, in milliseconds. */
const STABLE_MS = 5_000;

interface ChangeStream {
  controller: AbortController;
  isReplaced: boolean;
  listening?: Listening;
}

export class ChangeStreams {
  readonly #endpoint: UpstreamEndpoint;
  readonly #options: WatchOptions;
  readonly #onNotification: (method: string, text: string) => void;
  #open: ChangeStream | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | undefined;

  constructor(
    endpoint: UpstreamEndpoint,
    options: WatchOptions,
    onNotification: (method: string, text: string) => void,
  ) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#onNotification = onNotification;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /**
   * Opens streams one after the other, so that each takes over from the last; calls that come while one is being opened share the next.
   * @param isCurrent whether what was negotiated still holds
   * @returns whether one is open
   */
  open(negotiated: Negotiated, isCurrent: () => boolean): Promise<boolean> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#openNow(negotiated, isCurrent);
    });
    this.#last = this.#next.catch(() => {});
    return this.#next;
  }

  /** Whether a modern server agreed to announce a resource; if a later stream took over meanwhile, what it agreed to on that one. */
  async isAgreed(uri: string): Promise<boolean> {
    for (;;) {
      const open = this.#open;
      const agreed = await open?.listening?.agreed('resourceSubscriptions');
      if (agreed?.includes(uri)) return true;
      if (this.#open === open) return false;
    }
  }

  close(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.controller.abort();
  }

  async #openNow(
    { verdict, protocol, capabilities }: Negotiated,
    isCurrent: () => boolean,
  ): Promise<boolean> {
    if (verdict.transport !== 'http' || !isCurrent()) return false;
    const uris = await this.#options.uris();
    const wantsLists = this.#options.wantsLists || uris.length > 0;
    const wanted = { lists: wantsLists ? announcedLists(capabilities) : [], uris };
    const before = this.#open;
    if (wanted.lists.length === 0 && wanted.uris.length === 0) {
      before?.controller.abort();
      return false;
    }
    const opened: ChangeStream = { controller: new AbortController(), isReplaced: false };
    const takeOver = () => {
      if (!before || before.isReplaced) return;
      before.isReplaced = true;
      before.controller.abort();
    };
    const onNotification = (method: string, text: string) => {
      takeOver();
      if (!opened.isReplaced) this.#onNotification(method, text);
    };
    const { signal } = opened.controller;
    const listening = await listen(this.#endpoint, protocol, wanted, onNotification, signal);
    // If the channel was replaced meanwhile, the stream belongs to the session that ended.
    if (!isCurrent()) opened.controller.abort();
    if (!listening || signal.aborted) return false;
    opened.listening = listening;
    this.#open = opened;
    void this.#follow(opened, listening.ended);
    return true;
  }

  /**
   * Requests a discovery if a stream ends after a while, since the server may be gone. After a stream that ended at once it would make a
   * loop.
   */
  async #follow(opened: ChangeStream, ended: Promise<void>): Promise<void> {
    const openedAt = Date.now();
    await ended;
    if (this.#open !== opened) return;
    this.#open = undefined;
    if (Date.now() - openedAt > STABLE_MS) this.#options.onEvent();
  }
}

/** Returns the lists whose changes a server says that it announces. */
export function announcedLists(capabilities: JsonObject): string[] {
  return ['tools', 'resources', 'prompts'].filter(name => {
    const capability = capabilities[name];
    return isObject(capability) && capability['listChanged'] === true;
  });
}
