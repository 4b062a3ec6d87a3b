/**
 * Finds out once per start which era a child speaks, and opens the legacy session of a legacy child. `server/discover` is sent first; a
 * child that answers with another error, or not in time, is legacy. Requests of the child meanwhile are refused, since no client is
 * connected yet. Source: MCP 2026-07-28, stdio, Backward Compatibility; 2025-11-25, lifecycle.
 */
import { beginningWithoutSecrets } from '../../../src/shared/redaction/secret-patterns.ts';
import {
  idText,
  IMPLEMENTATION,
  isObject,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  RPC,
  toOwnId,
} from '../../../src/shared/protocol.ts';
import { declaring, type ClientFeature } from '../../../src/shared/client-capabilities.ts';
import type { Child } from './child.ts';
import { errorText, notificationText, requestText, type ChildMessage } from './child-message.ts';
import type { Limits } from './limits.ts';

/** The protocol found for a child. */
export type NegotiatedProtocol =
  | { era: 'modern' }
  /** `initialized` is the raw result of `initialize`; every session gets it. */
  | { era: 'legacy'; protocolVersion: string; initialized: string };

type Response = Extract<ChildMessage, { kind: 'response' }>;

/** The child answers, but in a way that ends the handshake; the message says why, for people. */
export class HandshakeFailed extends Error {}

const ENVELOPE = {
  [META.protocolVersion]: MODERN_VERSION,
  [META.clientInfo]: IMPLEMENTATION,
  [META.clientCapabilities]: {},
};

export class Handshake {
  readonly #child: Child;
  readonly #limits: Limits;
  readonly #waiting = new Map<unknown, (response: Response) => void>();
  readonly #capabilities: object;
  #late: Promise<boolean> | undefined;
  /** Only the probe was sent so far: a child that ends now may have died of it. */
  isProbing = true;

  /** @param features the client capabilities that a legacy child is told */
  constructor(child: Child, limits: Limits, features: readonly ClientFeature[]) {
    this.#child = child;
    this.#limits = limits;
    this.#capabilities = declaring(features);
  }

  /**
   * Set for a child that did not answer the probe in time and was taken for legacy. Settles if it answers the probe after all.
   * @returns whether it is modern
   */
  get late(): Promise<boolean> | undefined {
    return this.#late;
  }

  /**
   * Handles a message of the child.
   * @param isOver the handshake is over: only responses to its own requests matter
   */
  take(message: ChildMessage, isOver = false): void {
    if (message.kind === 'response') this.#waiting.get(toOwnId(message.id))?.(message);
    if (message.kind !== 'request' || isOver) return;
    const rawId = idText(message.id);
    if (message.method === 'ping') this.#child.send(`{"jsonrpc":"2.0","id":${rawId},"result":{}}`);
    else this.#child.send(errorText(rawId, RPC.internalError, 'No client is connected'));
  }

  /**
   * @param probeMs how long the child may take for the modern probe; undefined: no probe
   * @returns undefined where the child ended first
   * @throws HandshakeFailed
   */
  async run(probeMs: number | undefined): Promise<NegotiatedProtocol | undefined> {
    const over = this.#child.over.then(() => undefined);
    return Promise.race([this.#negotiate(probeMs), over]);
  }

  async #negotiate(probeMs: number | undefined): Promise<NegotiatedProtocol | undefined> {
    const late = probeMs === undefined ? undefined : this.#discover();
    const probed = late && (await Promise.race([late, pause(probeMs ?? 0)]));
    if (probed?.isModern) return { era: 'modern' };
    if (probed && !probed.isLegacy) {
      throw new HandshakeFailed('speaks no known version of the protocol');
    }
    if (late && !probed) this.#late = late.then(({ isModern }) => isModern);
    try {
      return await this.#initialize();
    } catch (error) {
      // A modern server that was slow to start may have answered the probe in the meantime.
      const answer = late && (await Promise.race([late, pause(0)]));
      if (answer?.isModern) return { era: 'modern' };
      throw error;
    }
  }

  /** Settles with the child's answer to the probe, whenever it comes. */
  async #discover(): Promise<{ isModern: boolean; isLegacy: boolean }> {
    const params = JSON.stringify({ _meta: ENVELOPE });
    const response = await this.#request('server/discover', params);
    const { isError, body } = response;
    const data = isError && isObject(body['data']) ? body['data'] : body;
    const versions = isError ? data['supported'] : data['supportedVersions'];
    const isAnswer = !isError || body['code'] === RPC.unsupportedProtocolVersion;
    if (!isAnswer || !Array.isArray(versions)) return { isModern: false, isLegacy: true };
    return {
      isModern: versions.includes(MODERN_VERSION),
      isLegacy: versions.some(version => LEGACY_VERSIONS.includes(version)),
    };
  }

  /** Tries the newest legacy version first; a child that refuses it may accept an older one. */
  async #initialize(): Promise<NegotiatedProtocol> {
    let refusal = 'did not answer';
    this.isProbing = false;
    for (const version of LEGACY_VERSIONS) {
      const params = { protocolVersion: version, capabilities: this.#capabilities };
      const text = JSON.stringify({ ...params, clientInfo: IMPLEMENTATION });
      const asked = this.#request('initialize', text);
      const response = await Promise.race([asked, pause(this.#limits.handshakeMs)]);
      if (!response) throw new HandshakeFailed('did not answer the handshake in time');
      const { isError, body } = response;
      if (isError) {
        refusal = `refused the handshake: ${beginningWithoutSecrets(String(body['message']), 200)}`;
        continue;
      }
      const { protocolVersion } = body;
      if (typeof protocolVersion !== 'string' || !LEGACY_VERSIONS.includes(protocolVersion)) {
        throw new HandshakeFailed('speaks no known version of the protocol');
      }
      this.#child.send(notificationText('notifications/initialized'));
      const initialized = response.raw.get('result') ?? '{}';
      return { era: 'legacy', protocolVersion, initialized };
    }
    throw new HandshakeFailed(refusal);
  }

  #request(method: string, params: string): Promise<Response> {
    const id = this.#child.nextId();
    this.#child.send(requestText(id, method, params));
    return new Promise(resolve => this.#waiting.set(id, resolve));
  }
}

/** Resolves with undefined after `ms`; the timer does not keep the process alive. */
function pause(ms: number): Promise<undefined> {
  return new Promise(resolve => setTimeout(() => resolve(undefined), ms).unref());
}
