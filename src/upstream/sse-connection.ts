/**
 * A live connection to a server of the deprecated HTTP+SSE transport: a GET stream that first
 * names the endpoint, POSTs to it, answers on the stream, matched by id.
 *
 * Invariants: the endpoint is of the stream's own origin; when the stream ends, every waiting
 * request fails and nothing is sent again. Source: MCP 2024-11-05, transports.
 */
import { PorticoError } from '../errors/portico-error.ts';
import type { RawObject } from '../lib/json-spans.ts';
import { readEvents, type SseEvent } from '../lib/sse-events.ts';
import { LATEST_LEGACY_VERSION, type RequestId } from '../protocol.ts';
import type { Channel } from './channel.ts';
import type { Deadline } from './deadline.ts';
import { parseMessage, type RawResponse } from './message.ts';
import { nextRequestId } from './request-ids.ts';
import type { Destination } from './destination.ts';
import { requestHeaders, requestText, type Manner } from './wire-request.ts';

export interface SseOptions {
  maxBytes: number;
  onNotification?: (method: string) => void;
}

interface Waiting {
  resolve(response: RawResponse): void;
  reject(error: PorticoError): void;
}

const MANNER: Manner = { era: 'legacy', protocolVersion: LATEST_LEGACY_VERSION };

/**
 * Open the stream and wait for its endpoint.
 * @throws PorticoError with an `upstream_*` code
 */
export async function openSse(
  destination: Destination,
  options: SseOptions,
  deadline: Deadline,
): Promise<SseConnection> {
  const controller = new AbortController();
  const onDeadline = () => controller.abort();
  deadline.signal.addEventListener('abort', onDeadline, { once: true });
  try {
    const response = await fetch(destination.url, {
      headers: { ...destination.headers, accept: 'text/event-stream' },
      redirect: 'manual',
      signal: controller.signal,
    });
    const type = response.headers.get('content-type') ?? '';
    if (response.status !== 200 || !type.includes('text/event-stream') || !response.body) {
      response.body?.cancel().catch(() => {});
      throw response.status === 401 || response.status === 403
        ? new PorticoError('upstream_auth')
        : new PorticoError('upstream_4xx', `The server answered ${response.status} to the stream`);
    }
    const events = readEvents(response.body, options.maxBytes);
    const first = await events.next();
    const endpoint = first.done ? undefined : endpointOf(first.value, destination.url);
    if (endpoint === undefined) {
      throw new PorticoError('upstream_bad_message', 'The stream names no endpoint of its origin');
    }
    return new SseConnection(destination, endpoint, events, controller, options);
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
  readonly #destination: Destination;
  readonly #endpoint: string;
  readonly #controller: AbortController;
  readonly #options: SseOptions;
  readonly #waiting = new Map<RequestId, Waiting>();
  #closed = false;
  #served = 0;

  constructor(
    destination: Destination,
    endpoint: string,
    events: AsyncGenerator<SseEvent, void, undefined>,
    controller: AbortController,
    options: SseOptions,
  ) {
    this.#destination = destination;
    this.#endpoint = endpoint;
    this.#controller = controller;
    this.#options = options;
    void this.#read(events);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Requests that wait for their response. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Requests taken so far. */
  get served(): number {
    return this.#served;
  }

  async request(method: string, params: RawObject, deadline: Deadline): Promise<RawResponse> {
    this.#served += 1;
    if (this.#closed) throw new PorticoError('upstream_unreachable');
    const id = nextRequestId();
    const response = new Promise<RawResponse>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    const onAbort = () => {
      this.#waiting.get(id)?.reject(deadline.explain(new PorticoError('upstream_no_response')));
      void this.#send({ method: 'notifications/cancelled', params: { requestId: id } });
    };
    deadline.signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([
        this.#post(requestText({ method, params }, id, 'legacy'), method, deadline),
        response,
      ]);
      return await response;
    } finally {
      response.catch(() => {});
      this.#waiting.delete(id);
      deadline.signal.removeEventListener('abort', onAbort);
    }
  }

  async notify(method: string, deadline: Deadline): Promise<void> {
    await this.#post(JSON.stringify({ jsonrpc: '2.0', method }), method, deadline);
  }

  close(): void {
    this.#closed = true;
    this.#controller.abort();
    for (const { reject } of this.#waiting.values()) reject(new PorticoError('upstream_truncated'));
    this.#waiting.clear();
  }

  async #post(body: string, method: string, deadline: Deadline): Promise<void> {
    let response: Response;
    try {
      response = await fetch(this.#endpoint, {
        method: 'POST',
        headers: requestHeaders(this.#destination, MANNER, method),
        body,
        redirect: 'manual',
        signal: deadline.signal,
      });
    } catch {
      throw deadline.explain(new PorticoError('upstream_unreachable'));
    }
    response.body?.cancel().catch(() => {});
    if (response.status >= 500) {
      throw new PorticoError('upstream_5xx', `The server answered ${response.status}`);
    }
    if (!response.ok) {
      throw new PorticoError('upstream_4xx', `The server answered ${response.status}`);
    }
  }

  async #read(events: AsyncGenerator<SseEvent, void, undefined>): Promise<void> {
    try {
      for await (const event of events) this.#receive(event);
    } catch {
      // The stream broke: the same as its end, told below to all who wait.
    }
    this.close();
  }

  #receive(event: SseEvent): void {
    if (event.event !== 'message') return;
    const id = idOf(event.data);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    try {
      const message = parseMessage(event.data, id ?? '');
      if (message.kind === 'notification') this.#options.onNotification?.(message.method);
      else if (message.kind === 'request') void this.#refuse(message.method, message.id);
      else if (message.kind === 'response') waiting?.resolve(message);
    } catch (error) {
      waiting?.reject(
        error instanceof PorticoError ? error : new PorticoError('upstream_bad_message'),
      );
    }
  }

  /** A question of the server: `ping` is answered, nothing else was offered to it. */
  async #refuse(method: string, id: RequestId): Promise<void> {
    const answer =
      method === 'ping' ? { result: {} } : { error: { code: -32601, message: 'Method not found' } };
    await this.#send({ id, ...answer });
  }

  /** A message whose fate nobody waits for. */
  async #send(message: Record<string, unknown>): Promise<void> {
    await fetch(this.#endpoint, {
      method: 'POST',
      headers: requestHeaders(this.#destination, MANNER, ''),
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      redirect: 'manual',
      signal: this.#controller.signal,
    })
      .then(response => response.body?.cancel())
      .catch(() => {});
  }
}

function idOf(data: string): RequestId | undefined {
  try {
    const { id } = JSON.parse(data) as { id?: unknown };
    return typeof id === 'string' || typeof id === 'number' ? id : undefined;
  } catch {
    return undefined;
  }
}
