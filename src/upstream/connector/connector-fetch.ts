/**
 * Sends requests to servers of connectors. Each request is one channel on a socket of its own to the connector's object, which passes
 * frames on and may sleep in between. Here, where the caller waits, the frames become a response again, whose body is requested at the pace
 * at which it is read.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ConnectorFetch, OutboundFetch } from '../protocol/without-credential.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import {
  parseFrame,
  parsePayload,
  toDataFrames,
  toFrame,
  toJsonFrame,
  WINDOW_BYTES,
  type Frame,
  type Payload,
} from './frames.ts';

/** Opens a channel to the object of a connector; it is not accepted yet. */
export type OpenChannel = (connectorId: string) => Promise<WebSocket | null>;

/** Statuses whose responses cannot have a body. */
const BODILESS = new Set([101, 204, 205, 304]);
/** Close code of a channel that is over, and whose connector knows that or need not know. */
const DONE = 1000;
/** Longest text of a machine that an error quotes, in UTF-16 units. */
const MAX_SAID_CHARS = 500;
/** Data that was read is credited in steps of this many bytes. */
const CREDIT_BYTES = WINDOW_BYTES / 4;

/** Makes the fetch for servers of connectors. */
export function createConnectorFetch(open: OpenChannel): ConnectorFetch {
  return (connectorId, server) => (_url, init) => {
    const request = new ChannelRequest(server, init);
    return request.send(() => open(connectorId));
  };
}

/** One request and its response. */
class ChannelRequest {
  readonly #server: string;
  readonly #init: RequestInit;
  readonly #signal: AbortSignal | undefined;
  readonly #answer = Promise.withResolvers<Response>();
  #socket: WebSocket | undefined;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Bytes that came, and how many of them were credited to the connector as read. */
  #received = 0;
  #credited = 0;
  #hasBegun = false;
  #isOver = false;

  constructor(server: string, init: Parameters<OutboundFetch>[1]) {
    this.#server = server;
    this.#init = init;
    this.#signal = init.signal ?? undefined;
  }

  /** @throws PorticoError `upstream_unreachable` if the connector cannot be reached or goes away before its response begins */
  async send(open: () => Promise<WebSocket | null>): Promise<Response> {
    if (this.#signal?.aborted) throw aborted();
    const socket = await open();
    if (!socket) throw unreachable('Its connector cannot be reached');
    socket.binaryType = 'arraybuffer';
    socket.accept();
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(data));
    socket.addEventListener('close', () => this.#break());
    socket.addEventListener('error', () => this.#break());
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#signal?.aborted) this.#onAbort();
    else this.#sendRequest(socket);
    return this.#answer.promise;
  }

  #sendRequest(socket: WebSocket): void {
    const { method = 'GET', headers, body } = this.#init;
    const open: Payload<'open'> = {
      server: this.#server,
      method: method as Payload<'open'>['method'],
      headers: Object.fromEntries(new Headers(headers)),
    };
    socket.send(toJsonFrame('open', 0, open));
    const bytes = new TextEncoder().encode(typeof body === 'string' ? body : '');
    for (const frame of toDataFrames(0, bytes)) socket.send(frame);
    socket.send(toFrame('end', 0));
  }

  readonly #onAbort = () => {
    this.#reset('cancelled', 'The caller is gone');
    this.#fail(aborted());
  };

  #receive(data: unknown): void {
    const frame = data instanceof ArrayBuffer ? parseFrame(new Uint8Array(data)) : undefined;
    if (this.#isOver || !frame) return;
    if (frame.type === 'head') this.#begin(frame);
    else if (frame.type === 'data') this.#take(frame.payload);
    else if (frame.type === 'end') this.#end();
    else if (frame.type === 'reset') {
      this.#over();
      this.#fail(unreachable(whyEnded(frame)));
    }
  }

  #begin({ payload }: Frame): void {
    const head = parsePayload('head', payload);
    const response = head && !this.#hasBegun ? this.#toResponse(head) : undefined;
    if (!response) {
      this.#reset('failed', 'The head of the answer is not valid');
      this.#fail(unreachable('The answer of its connector is not valid'));
      return;
    }
    this.#hasBegun = true;
    this.#answer.resolve(response);
  }

  /** @returns undefined if the status or a header is not valid */
  #toResponse({ status, headers }: Payload<'head'>): Response | undefined {
    if (status < 200 || status > 599) return undefined;
    const body = BODILESS.has(status) ? null : this.#createBody();
    try {
      const response = new Response(body, { status, headers });
      // Nothing here holds the machine to the length that it names, so the body is read as one of unknown length.
      response.headers.delete('content-length');
      return response;
    } catch {
      return undefined;
    }
  }

  #createBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: controller => {
          this.#body = controller;
        },
        pull: () => this.#credit(),
        cancel: () => this.#reset('cancelled', 'The caller is gone'),
      },
      { highWaterMark: WINDOW_BYTES, size: chunk => chunk?.byteLength ?? 0 },
    );
  }

  #take(bytes: Uint8Array): void {
    this.#received += bytes.length;
    // The connector exceeds the window: there is no room for what it sends.
    if (this.#received - this.#credited > WINDOW_BYTES) {
      this.#reset('too_large', 'More was sent than was allowed');
      this.#fail(unreachable('Its connector sent more than was allowed'));
      return;
    }
    this.#body?.enqueue(bytes);
  }

  /** Asks for as much more as was read. */
  #credit(): void {
    const waiting = WINDOW_BYTES - (this.#body?.desiredSize ?? 0);
    const bytes = this.#received - waiting - this.#credited;
    if (this.#isOver || bytes < CREDIT_BYTES) return;
    this.#credited += bytes;
    this.#socket?.send(toJsonFrame('credit', 0, { bytes }));
  }

  #end(): void {
    this.#over();
    if (!this.#hasBegun) this.#answer.reject(unreachable('Its connector ended the call'));
    this.#body?.close();
  }

  #reset(code: Payload<'reset'>['code'], message: string): void {
    if (this.#isOver) return;
    this.#socket?.send(toJsonFrame('reset', 0, { code, message }));
    this.#over();
  }

  /** The object is gone, and with it what it knew of the connector. */
  #break(): void {
    if (this.#isOver) return;
    this.#over();
    this.#fail(unreachable('The connection to its connector broke'));
  }

  #fail(reason: Error): void {
    this.#answer.reject(reason);
    this.#body?.error(reason);
  }

  #over(): void {
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close(DONE);
  }
}

/**
 * Returns why a channel ended. Frames of the gateway itself have channel 0; the text of all others is the machine's, and is shown as such.
 */
function whyEnded({ channel, payload }: Frame): string {
  const message = parsePayload('reset', payload)?.message ?? '';
  const said = toOneLine(message, MAX_SAID_CHARS);
  if (said === '') return 'Its connector ended the call';
  return channel === 0 ? said : `Its connector says: ${said}`;
}

const unreachable = (detail: string) => new PorticoError('upstream_unreachable', detail);
const aborted = () => new DOMException('The operation was aborted', 'AbortError');
