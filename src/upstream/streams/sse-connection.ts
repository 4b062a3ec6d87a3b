/**
 * A live connection to a server of the deprecated HTTP+SSE transport: a GET stream that first names the endpoint, POSTs to it, answers on
 * the stream, matched by id.
 *
 * Invariants: the endpoint is of the stream's own origin; when the stream ends, every waiting request fails and nothing is sent again.
 * Source: MCP 2024-11-05, transports.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { finalResponse } from '../protocol/final-response.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import type { AsyncQueue } from '../../shared/util/async-queue.ts';
import { isEventStream } from '../../http/read-text.ts';
import { readEvents, type SseEvent } from '../../http/sse-events.ts';
import { toOwnId, type RequestId } from '../../shared/protocol.ts';
import type { Channel } from '../session/channel.ts';
import { createDeadline, type Deadline } from '../../http/deadline.ts';
import { idOf, parseMessage, type RawResponse, type UpstreamMessage } from '../protocol/message.ts';
import { renamedProgress, withProgressToken } from '../protocol/progress-token.ts';
import { nextRequestId, requestHeaders, requestText } from '../protocol/wire-request.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { createMessageQueue } from './message-queue.ts';
import type { SessionNotification } from './session-events.ts';
import { SharedStream, type Listener } from './shared-stream.ts';
import { refusalOf } from '../protocol/status-error.ts';

export interface SseOptions {
  maxBytes: number;
  onNotification?: (method: string, text: string) => void;
  /** See `SharedStream`. */
  onEvent?: (message: SessionNotification) => boolean;
}

/** Longest time for a message that nobody waits for, in milliseconds. */
const SEND_MS = 5_000;

/**
 * Opens the stream and waits for its endpoint.
 * @throws PorticoError with an `upstream_*` code
 */
export async function openSse(
  upstreamEndpoint: UpstreamEndpoint,
  options: SseOptions,
  deadline: Deadline,
): Promise<SseConnection> {
  const controller = new AbortController();
  const onDeadline = () => controller.abort();
  deadline.signal.addEventListener('abort', onDeadline, { once: true });
  try {
    const response = await upstreamEndpoint.fetch(upstreamEndpoint.url, {
      headers: { ...upstreamEndpoint.headers, accept: 'text/event-stream' },
      redirect: 'manual',
      signal: controller.signal,
    });
    if (response.status !== 200 || !isEventStream(response) || !response.body) {
      response.body?.cancel().catch(() => {});
      throw response.ok
        ? new PorticoError('upstream_bad_content_type')
        : refusalOf(response, upstreamEndpoint);
    }
    const events = readEvents(response.body, options.maxBytes);
    const first = await events.next();
    const endpoint = first.done ? undefined : endpointOf(first.value, upstreamEndpoint.url);
    if (endpoint === undefined) {
      throw new PorticoError('upstream_bad_message', 'The stream names no endpoint of its origin');
    }
    return new SseConnection(upstreamEndpoint, endpoint, events, controller, options);
  } catch (error) {
    controller.abort();
    if (error instanceof PorticoError) throw error;
    throw deadline.explain(new PorticoError('upstream_unreachable'));
  } finally {
    deadline.signal.removeEventListener('abort', onDeadline);
  }
}

function endpointOf(event: SseEvent, base: string): string | undefined {
  if (event.event !== 'endpoint' || !URL.canParse(event.data, base)) return undefined;
  const endpoint = new URL(event.data, base);
  return endpoint.origin === new URL(base).origin ? endpoint.href : undefined;
}

export class SseConnection implements Channel {
  readonly upstreamEndpoint: UpstreamEndpoint;
  /** The version that the handshake found; empty before. */
  protocolVersion = '';
  readonly #endpoint: string;
  readonly #controller: AbortController;
  readonly #options: SseOptions;
  readonly #waiting = new Map<RequestId, AsyncQueue<UpstreamMessage>>();
  /** Messages of the server that name no request. Calls join before they are sent, so none joins too late. */
  readonly #shared = new SharedStream({
    send: text => this.#send(text),
    graceMs: 0,
    onEvent: message => this.#options.onEvent?.(message) ?? false,
  });
  #closed = false;
  /** The server knows the endpoint no more. */
  #isForgotten = false;
  #served = 0;

  constructor(
    upstreamEndpoint: UpstreamEndpoint,
    endpoint: string,
    events: AsyncGenerator<SseEvent, void, undefined>,
    controller: AbortController,
    options: SseOptions,
  ) {
    this.upstreamEndpoint = upstreamEndpoint;
    this.#endpoint = endpoint;
    this.#controller = controller;
    this.#options = options;
    void this.#read(events);
  }

  /** Whether no more requests can be sent, though its stream may still be open. */
  get closed(): boolean {
    return this.#closed || this.#isForgotten;
  }

  /** Number of requests that wait for their response. */
  get pending(): number {
    return this.#waiting.size;
  }

  get #headers(): Record<string, string> {
    const { protocolVersion } = this;
    return requestHeaders(this.upstreamEndpoint, { era: 'legacy', protocolVersion }, '');
  }

  /** Number of requests so far. */
  get served(): number {
    return this.#served;
  }

  async request(method: string, params: RawObject, deadline: Deadline): Promise<RawResponse> {
    return finalResponse({ messages: this.call(method, params, deadline) });
  }

  /**
   * Sends a request and yields what comes for it, the response last.
   * @param canAnswer whether its client answers server requests of a method
   */
  async *call(
    method: string,
    params: RawObject,
    deadline: Deadline,
    canAnswer: (method: string) => boolean = () => false,
  ): AsyncGenerator<UpstreamMessage, void, undefined> {
    if (this.#closed) throw new PorticoError('upstream_unreachable');
    this.#served += 1;
    const id = nextRequestId();
    const messages = createMessageQueue();
    const { params: sent, progressToken } = withProgressToken(params, id);
    const listener = toListener(messages, canAnswer, id, progressToken);
    this.#waiting.set(id, messages);
    this.#shared.join(listener);
    const onAbort = () => messages.end(deadline.explain(new PorticoError('upstream_no_response')));
    deadline.signal.addEventListener('abort', onAbort, { once: true });
    let answered = false;
    try {
      const body = requestText({ method, params: sent }, id, 'legacy');
      this.#post(body, deadline).catch((error: unknown) => messages.end(error));
      for (;;) {
        const message = await messages.take();
        if (!message) throw new PorticoError('upstream_truncated');
        answered = message.kind === 'response';
        yield message;
        if (answered) return;
      }
    } finally {
      this.#waiting.delete(id);
      deadline.signal.removeEventListener('abort', onAbort);
      // A client must not cancel `initialize`.
      const isOver = answered || this.#closed || method === 'initialize';
      const cancelSent = isOver ? Promise.resolve() : this.#cancel(id);
      this.#shared.leave(listener, cancelSent);
      // Awaited, so that the cancellation goes out before the connection may be closed after this call.
      await cancelSent;
    }
  }

  async notify(method: string, deadline: Deadline): Promise<void> {
    await this.#post(JSON.stringify({ jsonrpc: '2.0', method }), deadline);
  }

  close(): void {
    this.#closed = true;
    this.#controller.abort();
    for (const messages of this.#waiting.values()) {
      messages.end(new PorticoError('upstream_truncated'));
    }
    this.#waiting.clear();
    this.#shared.close();
  }

  async #post(body: string, deadline: Deadline): Promise<void> {
    let response: Response;
    try {
      response = await this.upstreamEndpoint.fetch(this.#endpoint, {
        method: 'POST',
        headers: this.#headers,
        body,
        redirect: 'manual',
        signal: deadline.signal,
      });
    } catch {
      throw deadline.explain(new PorticoError('upstream_unreachable'));
    }
    response.body?.cancel().catch(() => {});
    if (response.status === 404) this.#isForgotten = true;
    if (!response.ok) throw refusalOf(response, this.upstreamEndpoint);
  }

  async #read(events: AsyncGenerator<SseEvent, void, undefined>): Promise<void> {
    try {
      for await (const event of events) this.#receive(event);
    } catch {
      // A broken stream counts as an ended one: `close` below fails all waiting requests.
    }
    this.close();
  }

  #receive(event: SseEvent): void {
    if (event.event !== 'message') return;
    const id = toOwnId(idOf(event.data));
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    try {
      const message = parseMessage(event.data, id ?? '');
      if (message.kind === 'response') {
        waiting?.put(message);
        // Nothing follows a response, so that no further one waits.
        return waiting?.end();
      }
      if (message.kind === 'notification') {
        this.#options.onNotification?.(message.method, message.text);
      }
      this.#shared.take(message);
    } catch (error) {
      waiting?.end(error);
    }
  }

  #cancel(requestId: RequestId): Promise<void> {
    const cancelled = { method: 'notifications/cancelled', params: { requestId } };
    return this.#send(JSON.stringify({ jsonrpc: '2.0', ...cancelled }));
  }

  /** Sends a message; nobody waits to see whether it arrives. */
  async #send(body: string): Promise<void> {
    const deadline = createDeadline(SEND_MS, this.#controller.signal);
    await this.upstreamEndpoint
      .fetch(this.#endpoint, {
        method: 'POST',
        headers: this.#headers,
        body,
        redirect: 'manual',
        signal: deadline.signal,
      })
      .then(response => response.body?.cancel())
      .catch(() => {});
    deadline.release();
  }
}

/** Returns the listener of a call for the server's other messages; it puts the call's own progress token back. */
function toListener(
  messages: AsyncQueue<UpstreamMessage>,
  canAnswer: (method: string) => boolean,
  id: RequestId,
  own: string | undefined,
): Listener {
  return {
    canAnswer,
    progressToken: own === undefined ? undefined : JSON.stringify(id),
    put(message) {
      const isProgress =
        message.kind === 'notification' && message.method === 'notifications/progress';
      if (!isProgress || own === undefined) return messages.put(message);
      messages.put({ ...message, text: renamedProgress(message.text, own) });
    },
  };
}
