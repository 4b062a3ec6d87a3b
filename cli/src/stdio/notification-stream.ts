/**
 * The notification stream of a legacy session. It is reopened after the last received event whenever it ends, with growing pauses; a
 * gateway without such a stream is not asked again. Source: MCP 2025-11-25, transports, Listening for Messages, Resumability and
 * Redelivery.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SseParser } from '../../../src/http/sse-events.ts';
import { readMessages, type GatewayEndpoint } from './source.ts';
import { legacyHeaders, type OpenSession } from './headers.ts';
import { reasonOf } from './refusal.ts';

const MAX_EVENT_CHARS = 33_554_432;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** Statuses after which a retry is pointless. */
const FINAL = new Set([400, 401, 403, 405, 406]);

export interface NotificationStreamPorts {
  gatewayEndpoint: GatewayEndpoint;
  /** Passes one message to the host. */
  pass(text: string): Promise<void>;
  /** The gateway forgot the session. Reopening it makes this stream follow the new one. */
  onForgotten(session: OpenSession): Promise<unknown>;
  note(text: string): void;
}

export class NotificationStream {
  readonly #ports: NotificationStreamPorts;
  #following: AbortController | undefined;

  constructor(ports: NotificationStreamPorts) {
    this.#ports = ports;
  }

  /** Follows this session from now on, and no other. */
  follow(session: OpenSession): void {
    this.stop();
    if (session.id === undefined) return;
    const following = new AbortController();
    this.#following = following;
    void this.#keepOpen(session, following.signal).catch(error => {
      if (!following.signal.aborted)
        this.#ports.note(`the notification stream failed: ${reasonOf(error)}`);
    });
  }

  stop(): void {
    this.#following?.abort();
    this.#following = undefined;
  }

  async #keepOpen(session: OpenSession, signal: AbortSignal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    let lastEventId = '';
    while (!signal.aborted) {
      const parser = new SseParser(MAX_EVENT_CHARS);
      const status = await this.#readOnce(session, lastEventId, parser, signal).catch(() => 0);
      if (signal.aborted) return;
      if (FINAL.has(status)) {
        if (status !== 405)
          this.#ports.note(`the notification stream failed: the gateway answered ${status}`);
        return;
      }
      if (status === 404) await this.#ports.onForgotten(session).catch(() => {});
      const { lastEventId: last, retryMs } = parser.resumption;
      if (last !== '') {
        lastEventId = last;
        pauseMs = FIRST_PAUSE_MS;
      }
      const longest = Math.min(retryMs ?? pauseMs, LONGEST_PAUSE_MS);
      await pause(longest * (0.5 + Math.random() / 2), undefined, { signal });
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** @returns the status of the response, once it has ended */
  async #readOnce(
    session: OpenSession,
    lastEventId: string,
    parser: SseParser,
    signal: AbortSignal,
  ): Promise<number> {
    const resumed = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const headers = { ...legacyHeaders(session), ...resumed };
    const response = await this.#ports.gatewayEndpoint.get(headers, signal);
    if (!response.ok) {
      await response.body?.cancel();
      return response.status;
    }
    for await (const text of readMessages(response, parser)) {
      if (signal.aborted) break;
      await this.#ports.pass(text);
    }
    return response.status;
  }
}
