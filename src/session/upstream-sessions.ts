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
import type { Target } from '../upstream/target.ts';
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
  async acquire(owner: string, target: Target): Promise<UpstreamSession> {
    const key = `${owner} ${target.serverId}`;
    const known = this.#remembered.get(key);
    const now = Date.now();
    if (known?.session.credentialKey === target.credentialKey && now - known.at < REMEMBER_MS) {
      return known.session;
    }
    const object = this.#object(owner);
    const acquired = await object.acquire(target.serverId, target.credentialKey);
    const session =
      'session' in acquired ? acquired.session : await this.#open(object, target, acquired.claim);
    this.#remembered.set(key, { session, at: now });
    return session;
  }

  /** The upstream forgot this session. */
  async forget(owner: string, target: Target, sessionId: string): Promise<void> {
    this.#remembered.delete(`${owner} ${target.serverId}`);
    await this.#object(owner).forget(target.serverId, sessionId);
  }

  /** One request over the owner's HTTP+SSE connection. */
  async callSse(
    owner: string,
    target: Target,
    request: OutboundRequest,
    timeoutMs: number,
  ): Promise<RawResponse> {
    const params = [...request.params];
    const answer = await this.#object(owner).callSse(target, request.method, params, timeoutMs);
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
    target: Target,
    claim: string,
  ): Promise<UpstreamSession> {
    const deadline = createDeadline(HANDSHAKE_MS);
    try {
      const { protocolVersion, sessionId = '' } = await initializeHttp(
        target,
        deadline,
        this.#maxBytes,
      );
      const session = { sessionId, protocolVersion, credentialKey: target.credentialKey };
      await object.settle(target.serverId, claim, session);
      return session;
    } catch (error) {
      await object.settle(target.serverId, claim);
      throw error;
    } finally {
      deadline.release();
    }
  }
}
