/**
 * A monitor's lasting connection to one upstream. It is negotiated once, also across the monitor's sleep; its channel is kept, and its
 * change stream is open while the server announces something that is wanted. `discover` reads the lists; a channel that fails is replaced
 * by a fresh negotiation once, since reading a list again does no harm. Resources that clients subscribed to are subscribed to here, once,
 * and again after each new negotiation.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { parseUpdated, UPDATED } from '../../shared/json/updated.ts';
import { createDeadline, type Deadline } from '../../http/deadline.ts';
import { requestSubscription } from '../session/request-subscription.ts';
import { createHttpChannel } from '../session/channel.ts';
import { endSession } from '../session/end-session.ts';
import { announcedLists, ChangeStreams } from './change-streams.ts';
import { discover, type DiscoveryResult } from './discover.ts';
import { SessionForgotten } from '../exchange.ts';
import type { KnownAside } from './known-upstream.ts';
import { negotiate, readChanged, type Negotiated } from './negotiate.ts';
import { SideView, withAside } from './side-view.ts';
import type { WatchOptions } from './watch-options.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';

const UNSUBSCRIBE_MS = 5_000;
/** A discovery takes what a modern server advertised this recently, as to the ping of the same cycle, in milliseconds. */
const FRESH_MS = 5_000;
/** Errors that concern one resource only. */
const REFUSED: ReadonlySet<ErrorCode> = new Set(['upstream_4xx', 'upstream_5xx']);
const LIST_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;

export class UpstreamWatch {
  readonly credentialKey: string;
  readonly #endpoint: UpstreamEndpoint;
  readonly #options: WatchOptions;
  readonly #subscribed = new Set<string>();
  /** Subscriptions that are being ended, by URI; the server is asked for one again only after that. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #aside: SideView;
  readonly #changes: ChangeStreams;
  #negotiated: Negotiated | undefined;
  #negotiatedAt = 0;
  /** When a modern server was last asked what it advertises. */
  #askedAt = 0;
  /** The side view that is stored in the memory. */
  #keptAside: KnownAside | undefined;
  #negotiating: Promise<Negotiated> | undefined;
  #closed = false;

  constructor(endpoint: UpstreamEndpoint, options: WatchOptions) {
    this.credentialKey = endpoint.credentialKey;
    this.#endpoint = endpoint;
    this.#options = options;
    this.#aside = new SideView(endpoint, options.maxBytes, options.legacy);
    const onNotification = (method: string, text: string) => this.#takeNotification(method, text);
    this.#changes = new ChangeStreams(endpoint, options, onNotification);
  }

  /** How the server is reached now; a new access token is used from the next request on. */
  get endpoint(): UpstreamEndpoint {
    return this.#endpoint;
  }

  /** Whether the server advertises that it announces changed lists; false before it was negotiated. */
  get announcesLists(): boolean {
    return (
      this.#negotiated !== undefined && announcedLists(this.#negotiated.capabilities).length > 0
    );
  }

  /** Closes what is open. The next message goes on in the same session, if the transport has sessions without a stream. */
  rest(): void {
    if (this.#negotiated?.verdict.transport === 'sse') this.#drop();
    this.#changes.close();
  }

  /** @throws PorticoError with an `upstream_*` code */
  discover(deadline: Deadline): Promise<DiscoveryResult> {
    return this.#withChannel(async negotiated => {
      const isModern = negotiated.protocol.era === 'modern';
      if (isModern && Date.now() - this.#askedAt > FRESH_MS)
        await this.#renew(negotiated, deadline);
      return this.#read(negotiated, deadline);
    }, deadline);
  }

  /** Asks a modern server again: it keeps no session that would end when another version of it is installed. */
  async #renew(negotiated: Negotiated, deadline: Deadline): Promise<void> {
    const changed = await readChanged(negotiated, deadline);
    this.#askedAt = Date.now();
    if (!changed) return;
    const lists = announcedLists(negotiated.capabilities).join();
    Object.assign(negotiated, changed);
    this.#keptAside = undefined;
    // The stream announces the lists that were advertised when it was opened.
    const isOther = announcedLists(negotiated.capabilities).join() !== lists;
    if (isOther && this.#changes.isOpen) await this.#listen(negotiated);
  }

  /**
   * Sends a light request to see whether the server answers.
   * @throws PorticoError with an `upstream_*` code
   */
  ping(deadline: Deadline): Promise<void> {
    return this.#withChannel(async negotiated => {
      if (negotiated.protocol.era === 'modern') await this.#renew(negotiated, deadline);
      else await negotiated.channel.request('ping', new Map(), deadline);
    }, deadline);
  }

  /** Subscribes to a resource, which `uris` names by now. @throws PorticoError with an `upstream_*` code */
  async subscribe(uri: string, deadline: Deadline): Promise<void> {
    const failure = await this.#withChannel(
      negotiated =>
        negotiated.protocol.era === 'modern'
          ? this.#subscribeByStream(negotiated, uri)
          : this.#subscribeByRequest(negotiated, uri, deadline),
      deadline,
    );
    // Thrown only here: the channel did not fail, and other resources are announced on it.
    if (failure) throw failure;
  }

  /** @returns why a modern server does not announce a resource, if so */
  async #subscribeByStream(negotiated: Negotiated, uri: string): Promise<PorticoError | undefined> {
    const isNew = await this.#listen(negotiated);
    if (!isNew && !this.#changes.isOpen) {
      throw new PorticoError('upstream_no_response', 'The server opens no stream');
    }
    const isAgreed = await this.#changes.isAgreed(uri);
    if (isAgreed) return undefined;
    return isNew && isAgreed === false
      ? new PorticoError('upstream_4xx', 'The server refused the subscription')
      : new PorticoError('upstream_no_response', 'The server did not confirm the subscription');
  }

  /** @returns the refusal of a legacy server, if it refuses */
  async #subscribeByRequest(
    negotiated: Negotiated,
    uri: string,
    deadline: Deadline,
  ): Promise<PorticoError | undefined> {
    if (!this.#changes.isOpen) await this.#listen(negotiated);
    if (this.#subscribed.has(uri)) return undefined;
    const { hidden } = this.#endpoint;
    await this.#ending.get(uri);
    try {
      await requestSubscription(uri, 'resources/subscribe', negotiated.channel, deadline, hidden);
    } catch (thrown) {
      if (thrown instanceof PorticoError && thrown.extras.serverError !== undefined) return thrown;
      throw thrown;
    }
    this.#subscribed.add(uri);
    return undefined;
  }

  /** Unsubscribes from a resource, which `uris` no longer names. */
  async unsubscribe(uri: string): Promise<void> {
    const negotiated = this.#negotiated;
    const wasSubscribed = this.#subscribed.delete(uri);
    if (!negotiated) return;
    if (negotiated.protocol.era === 'modern') await this.#listen(negotiated);
    if (!wasSubscribed) return;
    const deadline = createDeadline(UNSUBSCRIBE_MS);
    const { channel } = negotiated;
    const ending = requestSubscription(uri, 'resources/unsubscribe', channel, deadline, [])
      .catch(() => {})
      .finally(() => {
        deadline.release();
        if (this.#ending.get(uri) === ending) this.#ending.delete(uri);
      });
    this.#ending.set(uri, ending);
    await ending;
  }

  /** What clients with capabilities are offered may have changed: the next discovery finds out. */
  doubt(): void {
    this.#aside.doubt();
  }

  /** Stops listening and ends the session at the server, also one that is being opened. A courtesy that nobody waits for. */
  close(): void {
    this.#closed = true;
    this.#drop();
  }

  /** Runs work on the channel; a channel that fails is replaced once. */
  async #withChannel<T>(
    work: (negotiated: Negotiated) => Promise<T>,
    deadline: Deadline,
  ): Promise<T> {
    const held = this.#negotiated ?? (await this.#recall());
    if (held) {
      try {
        return await work(held);
      } catch (error) {
        const isKnown = error instanceof PorticoError || error instanceof SessionForgotten;
        if (!isKnown || deadline.signal.aborted) throw error;
        if (this.#negotiated === held) this.#drop();
      }
    }
    this.#negotiating ??= this.#negotiate(deadline).finally(() => (this.#negotiating = undefined));
    return work(await this.#negotiating).finally(() => this.#closed && this.#drop());
  }

  #drop(): void {
    const negotiated = this.#negotiated;
    if (negotiated) void this.#options.memory.drop();
    this.#negotiated = undefined;
    this.#subscribed.clear();
    this.#changes.close();
    negotiated?.channel.close();
    const { sessionId = '', protocolVersion = '' } = negotiated?.protocol ?? {};
    void endSession(this.#endpoint, { sessionId, protocolVersion });
  }

  async #negotiate(deadline: Deadline): Promise<Negotiated> {
    const { transport, maxBytes } = this.#options;
    const onNotification = (method: string, text: string) => this.#takeNotification(method, text);
    const negotiated = await negotiate(
      this.#endpoint,
      { transport, maxBytes, onNotification },
      deadline,
    );
    this.#negotiated = negotiated;
    this.#negotiatedAt = this.#askedAt = Date.now();
    this.#keptAside = undefined;
    return negotiated;
  }

  /** Restores the channel that was negotiated before the monitor slept. */
  async #recall(): Promise<Negotiated | undefined> {
    const known = await this.#options.memory.find(this.credentialKey);
    if (!known || this.#closed || this.#negotiated) return this.#negotiated;
    const { protocol } = known.negotiated;
    const channel = createHttpChannel(this.#endpoint, protocol, this.#options.maxBytes);
    const negotiated = { ...known.negotiated, channel };
    this.#negotiated = negotiated;
    this.#negotiatedAt = known.negotiatedAt;
    this.#keptAside = known.aside;
    if (known.aside) this.#aside.recall(negotiated, known.aside);
    return negotiated;
  }

  /** Stores the channel and the findings of side discoveries, if they are new; a channel of HTTP+SSE is its stream and cannot be stored. */
  async #keep({ channel: _channel, ...negotiated }: Negotiated): Promise<void> {
    const aside = this.#aside.known;
    if (aside === this.#keptAside || this.#closed || negotiated.verdict.transport === 'sse') return;
    this.#keptAside = aside;
    const { credentialKey } = this;
    const negotiatedAt = this.#negotiatedAt;
    await this.#options.memory.keep({ credentialKey, negotiatedAt, negotiated, aside });
  }

  /** Opens the change stream before it reads the lists, so that no change is lost in between. */
  async #read(negotiated: Negotiated, deadline: Deadline): Promise<DiscoveryResult> {
    const { verdict, channel, capabilities, instructions } = negotiated;
    if (!this.#changes.isOpen) await this.#listen(negotiated);
    await this.#subscribeAnew(negotiated, deadline);
    const { hidden } = this.#endpoint;
    const discovered = await discover({ channel, deadline, hidden }, capabilities);
    const found = { ...discovered, verdict, capabilities, instructions };
    const aside = await this.#aside.beside(negotiated, discovered);
    if (this.#negotiated === negotiated) await this.#keep(negotiated);
    return withAside(found, aside);
  }

  /**
   * Subscribes again: a new session at the server knows nothing of earlier subscriptions. A resource that the server refuses now keeps no
   * other from it, nor a discovery; the next one asks again.
   */
  async #subscribeAnew({ protocol, channel }: Negotiated, deadline: Deadline): Promise<void> {
    if (protocol.era === 'modern') return;
    const missed = (await this.#options.uris()).filter(uri => !this.#subscribed.has(uri));
    if (missed.length === 0) return;
    for (const uri of missed) {
      try {
        await requestSubscription(uri, 'resources/subscribe', channel, deadline, []);
        this.#subscribed.add(uri);
      } catch (thrown) {
        if (!(thrown instanceof PorticoError) || !REFUSED.has(thrown.code)) throw thrown;
      }
    }
    // A subscription may have ended while the server was asked.
    const wanted = new Set(await this.#options.uris());
    for (const uri of missed) if (!wanted.has(uri)) await this.unsubscribe(uri);
  }

  #listen(negotiated: Negotiated): Promise<boolean> {
    return this.#changes.open(negotiated, () => this.#negotiated === negotiated);
  }

  #takeNotification(method: string, text: string): void {
    if (LIST_CHANGED.test(method)) {
      this.doubt();
      this.#options.onEvent();
    }
    const change = method === UPDATED ? parseUpdated(text) : undefined;
    if (change) this.#options.onUpdated(change.uri, change.params);
  }
}
