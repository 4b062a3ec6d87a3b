/**
 * Sessions at legacy upstreams, seen from the Worker: taken from the client's ClientSession object,
 * opened where there is none, remembered in the isolate so that a warm call asks no object.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { Lru } from '../lib/lru.ts';
import type { JsonObject } from '../protocol.ts';
import { createDeadline } from '../upstream/deadline.ts';
import { initializeHttp } from '../upstream/handshake.ts';
import type { RawResponse } from '../upstream/message.ts';
import type { Destination } from '../upstream/destination.ts';
import type { OutboundRequest } from '../upstream/wire-request.ts';
import type { ClientSession, EndedSession, UpstreamSession } from './client-session-object.ts';

/** How long the isolate believes in a session before it asks the object again, in milliseconds. */
const REMEMBER_MS = 60_000;
const HANDSHAKE_MS = 10_000;

interface Remembered {
  session: UpstreamSession;
  at: number;
}

export class UpstreamSessions {
  readonly #objects: DurableObjectNamespace<ClientSession>;
  readonly #maxBytes: number;
  readonly #remembered = new Lru<string, Remembered>(20_000);

  constructor(objects: DurableObjectNamespace<ClientSession>, maxBytes: number) {
    this.#objects = objects;
    this.#maxBytes = maxBytes;
  }

  /**
   * The session of `owner` at a server, opened if need be.
   * @param owner name of the ClientSession object
   * @throws PorticoError with an `upstream_*` code where the handshake fails
   */
  async acquire(owner: string, destination: Destination): Promise<UpstreamSession> {
    const key = `${owner} ${destination.serverId}`;
    const known = this.#remembered.get(key);
    const now = Date.now();
    if (
      known?.session.credentialKey === destination.credentialKey &&
      now - known.at < REMEMBER_MS
    ) {
      return known.session;
    }
    const object = this.#object(owner);
    const acquired = await object.acquire(destination.serverId, destination.credentialKey);
    const session =
      'session' in acquired
        ? acquired.session
        : await this.#open(object, destination, acquired.claim);
    this.#remembered.set(key, { session, at: now });
    return session;
  }

  /** The upstream forgot this session. */
  async forget(owner: string, destination: Destination, sessionId: string): Promise<void> {
    this.#remembered.delete(`${owner} ${destination.serverId}`);
    await this.#object(owner).forget(destination.serverId, sessionId);
  }

  /** One request over the owner's HTTP+SSE connection. */
  async callSse(
    owner: string,
    destination: Destination,
    request: OutboundRequest,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<RawResponse> {
    const object = this.#object(owner);
    const callId = crypto.randomUUID();
    const onAbort = () => void object.cancelSse(callId);
    signal.addEventListener('abort', onAbort, { once: true });
    const params = [...request.params];
    const { method } = request;
    const answer = await object
      .callSse(destination, method, params, timeoutMs, callId)
      .finally(() => signal.removeEventListener('abort', onAbort));
    if ('code' in answer) throw new PorticoError(answer.code, answer.detail);
    const parse = (text: string) => JSON.parse(text) as JsonObject;
    return 'result' in answer
      ? { kind: 'response', result: answer.result, parsed: parse(answer.result) }
      : { kind: 'response', error: answer.error, parsed: parse(answer.error) };
  }

  /** Forget all sessions of an owner. Returns what is to be ended at the upstreams. */
  async end(owner: string): Promise<EndedSession[]> {
    const ended = await this.#object(owner).end();
    for (const { serverId } of ended) this.#remembered.delete(`${owner} ${serverId}`);
    return ended;
  }

  #object(owner: string) {
    return this.#objects.get(this.#objects.idFromName(owner));
  }

  async #open(
    object: DurableObjectStub<ClientSession>,
    destination: Destination,
    claim: string,
  ): Promise<UpstreamSession> {
    const deadline = createDeadline(HANDSHAKE_MS);
    try {
      const { protocolVersion, sessionId = '' } = await initializeHttp(
        destination,
        deadline,
        this.#maxBytes,
      );
      const session = { sessionId, protocolVersion, credentialKey: destination.credentialKey };
      await object.settle(destination.serverId, claim, session);
      return session;
    } catch (error) {
      await object.settle(destination.serverId, claim);
      throw error;
    } finally {
      deadline.release();
    }
  }
}
