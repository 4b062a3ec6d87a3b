/**
 * The legacy session of a host at the gateway. Remembers how the session was opened; if the gateway forgot it (404), opens it again, once
 * for all requests that notice it at the same time. Also ends it. Source: MCP 2025-11-25, transports, Session Management.
 */
import { isObject } from '../../../src/shared/protocol.ts';
import { readMessages, type GatewayEndpoint } from './source.ts';
import { legacyHeaders, type OpenSession } from './headers.ts';
import type { HostRequest } from './message.ts';
import { refusedByGateway, RelayError } from './refusal.ts';

/** Most settings of a session that are repeated in its replacement. */
const MAX_SETTINGS = 1_000;
/** How long reopening may take, in milliseconds. */
const REOPEN_MS = 30_000;
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

export class Session {
  readonly #gatewayEndpoint: GatewayEndpoint;
  readonly #onReopened: (session: OpenSession) => void;
  /** Requests with which the host changed settings of the session: the log level, and subscriptions by URI. */
  readonly #settings = new Map<string, string>();
  #initialize: string | undefined;
  #current: OpenSession | undefined;
  #reopening: Promise<OpenSession> | undefined;

  /** @param onReopened called with each session that replaces a forgotten one */
  constructor(gatewayEndpoint: GatewayEndpoint, onReopened: (session: OpenSession) => void) {
    this.#gatewayEndpoint = gatewayEndpoint;
    this.#onReopened = onReopened;
  }

  get current(): OpenSession | undefined {
    return this.#current;
  }

  /** The host opened a session. @param initialize text of its request */
  opened(initialize: string, session: OpenSession): void {
    this.#initialize = initialize;
    this.#current = session;
    this.#settings.clear();
  }

  /** Remembers a successful request that changes a setting, to repeat it in a replacement session. */
  keep({ method, params, text }: HostRequest): void {
    const uri = `uri ${String(params['uri'])}`;
    if (method === 'logging/setLevel') this.#settings.set('level', text);
    if (method === 'resources/unsubscribe') this.#settings.delete(uri);
    if (method === 'resources/subscribe' && this.#settings.size < MAX_SETTINGS) {
      this.#settings.set(uri, text);
    }
  }

  /**
   * Returns the session that replaces a forgotten one.
   * @throws RelayError where an equal one cannot be opened
   */
  async reopen(forgotten: OpenSession): Promise<OpenSession> {
    if (this.#current && this.#current !== forgotten) return this.#current;
    this.#reopening ??= this.#openAnew(forgotten).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  /** Ends the session at the gateway, if there is one. Never throws. */
  async end(signal: AbortSignal): Promise<void> {
    const session = this.#current;
    this.#current = undefined;
    if (session?.id === undefined) return;
    const ended = this.#gatewayEndpoint.delete(legacyHeaders(session), signal);
    await ended.then(response => response.body?.cancel()).catch(() => {});
  }

  async #openAnew(forgotten: OpenSession): Promise<OpenSession> {
    const signal = AbortSignal.timeout(REOPEN_MS);
    const response = await this.#gatewayEndpoint.post(this.#initialize ?? '', {}, signal);
    if (!response.ok) {
      await response.body?.cancel();
      throw refusedByGateway(response.status, undefined);
    }
    let session: OpenSession | undefined;
    for await (const text of readMessages(response)) {
      session = sessionOf(response, JSON.parse(text));
    }
    if (session?.protocolVersion !== forgotten.protocolVersion) {
      throw new RelayError('the gateway lost the session and cannot reopen it; connect again');
    }
    for (const text of [INITIALIZED, ...this.#settings.values()]) {
      const told = await this.#gatewayEndpoint.post(text, legacyHeaders(session), signal);
      await told.body?.cancel();
    }
    this.#current = session;
    this.#onReopened(session);
    return session;
  }
}

/** The session that a response to `initialize` opens; undefined for another message. */
export function sessionOf(response: Response, message: unknown): OpenSession | undefined {
  const result = isObject(message) ? message['result'] : undefined;
  const version = isObject(result) ? result['protocolVersion'] : undefined;
  if (typeof version !== 'string') return undefined;
  return { id: response.headers.get('mcp-session-id') ?? undefined, protocolVersion: version };
}
