/**
 * The stream on which a server announces changes to its monitor. If other resources are wanted, another stream is opened, which takes over
 * with its first message, so that no change is lost in between.
 *
 * Invariant: two streams at most are open, the last that said something and one that has not said anything yet; `close` ends both.
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
  /** The stream to take over from; absent once that is done. */
  before: ChangeStream | undefined;
}

/** What a stream is opened for. */
interface Purpose {
  negotiated: Negotiated;
  /** Whether what was negotiated still holds. */
  isCurrent(): boolean;
}

export class ChangeStreams {
  readonly #endpoint: UpstreamEndpoint;
  readonly #options: WatchOptions;
  readonly #onNotification: (method: string, text: string) => void;
  #open: ChangeStream | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | undefined;
  /** What the next stream is opened for: what the last caller asked for. */
  #purpose: Purpose | undefined;

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
    this.#purpose = { negotiated, isCurrent };
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#purpose ? this.#openNow(this.#purpose) : false;
    });
    this.#last = this.#next.catch(() => {});
    return this.#next;
  }

  /**
   * Whether a modern server agreed to announce a resource; if a later stream took over meanwhile, what it agreed to on that one.
   * @returns undefined if it does not say
   */
  async isAgreed(uri: string): Promise<boolean | undefined> {
    for (;;) {
      const open = this.#open;
      const agreed = await open?.listening?.agreed('resourceSubscriptions');
      if (agreed?.includes(uri)) return true;
      if (this.#open === open) return agreed && false;
    }
  }

  close(): void {
    const open = this.#open;
    this.#open = undefined;
    endAll(open);
  }

  async #openNow({ negotiated, isCurrent }: Purpose): Promise<boolean> {
    const { verdict, protocol, capabilities } = negotiated;
    if (verdict.transport !== 'http' || !isCurrent()) return false;
    const uris = await this.#options.uris();
    const wantsLists = this.#options.wantsLists || uris.length > 0;
    const wanted = { lists: wantsLists ? announcedLists(capabilities) : [], uris };
    if (wanted.lists.length === 0 && wanted.uris.length === 0) {
      this.close();
      return false;
    }
    const last = this.#open;
    const opened: ChangeStream = {
      controller: new AbortController(),
      isReplaced: false,
      before: last,
    };
    const onNotification = (method: string, text: string) => {
      endAll(opened.before);
      opened.before = undefined;
      if (!opened.isReplaced) this.#onNotification(method, text);
    };
    const { signal } = opened.controller;
    const listening = await listen(this.#endpoint, protocol, wanted, onNotification, signal);
    // If the channel was replaced meanwhile, the stream belongs to the session that ended.
    if (!isCurrent()) opened.controller.abort();
    if (!listening || signal.aborted) return false;
    opened.listening = listening;
    if (opened.before?.before) {
      // It has said nothing, and this one asks for what is wanted now.
      end(opened.before);
      opened.before = opened.before.before;
    }
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
    end(opened);
    if (this.#open !== opened) return;
    this.#open = opened.before?.controller.signal.aborted ? undefined : opened.before;
    if (!this.#open && Date.now() - openedAt > STABLE_MS) this.#options.onEvent();
  }
}

/** Ends a stream, whose messages count no more. */
function end(stream: ChangeStream): void {
  stream.isReplaced = true;
  stream.controller.abort();
}

/** Ends a stream and the one that it has not taken over from yet. */
function endAll(stream: ChangeStream | undefined): void {
  if (stream?.before) end(stream.before);
  if (stream) end(stream);
}

/** Returns the lists whose changes a server says that it announces. */
export function announcedLists(capabilities: JsonObject): string[] {
  return ['tools', 'resources', 'prompts'].filter(name => {
    const capability = capabilities[name];
    return isObject(capability) && capability['listChanged'] === true;
  });
}
