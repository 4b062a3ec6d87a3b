/**
 * The legacy session of a host at the gateway. Remembers with what it was opened, so that one the gateway forgot (404) is
 * opened anew, once for all who find it gone at the same time, and ends it.
 * Source: MCP 2025-11-25, transports, Session Management.
 */
import { isObject } from '../../../src/shared/protocol.ts';
import { readMessages, type GatewayEndpoint } from './source.ts';
import { legacyHeaders, type OpenSession } from './headers.ts';
import type { HostRequest } from './message.ts';
import { refusedByGateway, RelayError } from './refusal.ts';

/** Most settings of a session that are made again in the next. */
const MAX_SETTINGS = 1_000;
/** How long opening anew may take, in milliseconds. */
const REOPEN_MS = 30_000;
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

export class Session {
  readonly #gatewayEndpoint: GatewayEndpoint;
  readonly #onReopened: (session: OpenSession) => void;
  /** What the host has set in the session, as it was sent: the log level, and subscriptions by their URI. */
  readonly #settings = new Map<string, string>();
  #initialize: string | undefined;
  #current: OpenSession | undefined;
  #reopening: Promise<OpenSession> | undefined;

  /** @param onReopened is told of each session that takes the place of a forgotten one */
  constructor(gatewayEndpoint: GatewayEndpoint, onReopened: (session: OpenSession) => void) {
    this.#gatewayEndpoint = gatewayEndpoint;
    this.#onReopened = onReopened;
  }

  get current(): OpenSession | undefined {
    return this.#current;
  }

  /** The host opened a session. @param initialize the request as it was sent */
  opened(initialize: string, session: OpenSession): void {
    this.#initialize = initialize;
    this.#current = session;
    this.#settings.clear();
  }

  /** A request of the host had its result: what it set is set again in a session that takes the place of this one. */
  keep({ method, params, text }: HostRequest): void {
    const uri = `uri ${String(params['uri'])}`;
    if (method === 'logging/setLevel') this.#settings.set('level', text);
    if (method === 'resources/unsubscribe') this.#settings.delete(uri);
    if (method === 'resources/subscribe' && this.#settings.size < MAX_SETTINGS) {
      this.#settings.set(uri, text);
    }
  }

  /**
   * The session in place of one that the gateway forgot.
   * @throws RelayError where it cannot be opened as it was
   */
  async reopen(forgotten: OpenSession): Promise<OpenSession> {
    if (this.#current && this.#current !== forgotten) return this.#current;
    this.#reopening ??= this.#openAnew(forgotten).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  /** Ends it at the gateway, if there is one. Never throws. */
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
      throw new RelayError('the gateway forgot the session and opens none like it; connect again');
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

/** The session that an answer to `initialize` opens; undefined where it is no such answer. */
export function sessionOf(response: Response, message: unknown): OpenSession | undefined {
  const result = isObject(message) ? message['result'] : undefined;
  const version = isObject(result) ? result['protocolVersion'] : undefined;
  if (typeof version !== 'string') return undefined;
  return { id: response.headers.get('mcp-session-id') ?? undefined, protocolVersion: version };
}
