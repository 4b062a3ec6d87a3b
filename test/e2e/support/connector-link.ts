/** One connection of a connector, seen from the gateway: opens channels, grants credit, and records each breach of the rules. */
import type { Duplex } from 'node:stream';
import type { Socket } from 'ws';
import * as frames from '../../../src/upstream/connector/frames.ts';

export interface LinkRequest {
  method?: 'POST' | 'GET' | 'DELETE';
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** Grants no credit until `flow` is called. */
  isHeld?: boolean;
}

export interface LinkAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** The other end of a channel: a reset. */
export class Reset extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

class Exchange {
  readonly answer: Promise<LinkAnswer>;
  readonly #settle: (answer: LinkAnswer | Reset) => void;
  readonly #link: Link;
  readonly id: number;
  readonly parts: Buffer[] = [];
  head: { status: number; headers: Record<string, string> } | undefined;
  /** Bytes received for which no credit was granted again yet. */
  uncovered = 0;
  isHeld: boolean;

  constructor(link: Link, id: number, isHeld: boolean) {
    const { promise, resolve } = Promise.withResolvers<LinkAnswer | Reset>();
    this.#settle = resolve;
    this.answer = promise.then(end => (end instanceof Reset ? Promise.reject(end) : end));
    this.answer.catch(() => {});
    this.#link = link;
    this.id = id;
    this.isHeld = isHeld;
  }

  /** Bytes of the response so far. */
  get size(): number {
    return this.parts.reduce((sum, { length }) => sum + length, 0);
  }

  /** Grants the held credit, and continues to grant it. */
  flow(): void {
    this.isHeld = false;
    this.cover();
  }

  cover(): void {
    if (this.isHeld || this.uncovered === 0) return;
    this.#link.send(frames.toJsonFrame('credit', this.id, { bytes: this.uncovered }));
    this.uncovered = 0;
  }

  /** Cancels the request, like a client that disconnects. */
  cancel(): void {
    this.#link.send(
      frames.toJsonFrame('reset', this.id, { code: 'cancelled', message: 'the client hung up' }),
    );
    this.#link.cancelled.add(this.id);
    this.end(new Reset('cancelled', 'by the test'));
  }

  end(how: LinkAnswer | Reset): void {
    this.#link.exchanges.delete(this.id);
    this.#settle(how);
  }
}

export type { Exchange };

export class Link {
  hello: { servers: string[]; agent: string } | undefined;
  /** The connector's closing message, if it sent one. */
  bye: string | undefined;
  news: string[] = [];
  pings = 0;
  /** Whether pings are answered. */
  isAlive = true;
  readonly breaches: string[] = [];
  readonly exchanges = new Map<number, Exchange>();
  readonly cancelled = new Set<number>();
  readonly closed: Promise<number>;
  readonly #socket: Socket;
  readonly #stream: Duplex;
  #lastId = 0;

  constructor(socket: Socket, stream: Duplex, onHello: () => void) {
    this.#socket = socket;
    this.#stream = stream;
    socket.on('error', () => {});
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#take(data, onHello);
      else if (data.toString() === frames.PING) this.#ping();
      else this.breaches.push(`a text: ${data.toString()}`);
    });
    this.closed = new Promise(resolve => {
      socket.on('close', (code: number) => {
        for (const exchange of this.exchanges.values()) exchange.end(new Reset('offline', 'cut'));
        resolve(code);
      });
    });
  }

  send(frame: Uint8Array | string): void {
    this.#socket.send(frame);
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  /** Reads and sends nothing more; the connection stays. */
  freeze(): void {
    this.isAlive = false;
    this.#socket.pause();
  }

  /** Breaks the connection without a closing message. */
  cut(): void {
    this.#stream.destroy();
  }

  sendBye(reason: frames.Payload<'bye'>['reason']): void {
    this.send(frames.toJsonFrame('bye', 0, { reason }));
  }

  /** Sends a request to a server. */
  request(server: string, options: LinkRequest = {}): Exchange {
    const { method = 'POST', headers = {}, body = '', isHeld = false } = options;
    this.#lastId += 1;
    const exchange = new Exchange(this, this.#lastId, isHeld);
    this.exchanges.set(exchange.id, exchange);
    this.send(frames.toJsonFrame('open', exchange.id, { server, method, headers }));
    for (const frame of frames.toDataFrames(exchange.id, Buffer.from(body))) this.send(frame);
    this.send(frames.toFrame('end', exchange.id));
    return exchange;
  }

  #ping(): void {
    this.pings += 1;
    if (this.isAlive) this.send(frames.PONG);
  }

  #take(data: Buffer, onHello: () => void): void {
    const frame = frames.parseFrame(data);
    if (!frame) return void this.breaches.push('no frame');
    const { type, channel, payload } = frame;
    if (type === 'hello') {
      this.hello = frames.parsePayload('hello', payload);
      const connector = { id: 'c-1', name: 'laptop' };
      this.send(frames.toJsonFrame('welcome', 0, { version: frames.FRAMES_VERSION, connector }));
      return onHello();
    }
    if (type === 'bye') return void (this.bye = frames.parsePayload('bye', payload)?.reason);
    if (type === 'news') {
      return void this.news.push(frames.parsePayload('news', payload)?.server ?? '');
    }
    const exchange = this.exchanges.get(channel);
    if (!exchange) {
      // Frames that were under way when the test cancelled still arrive.
      if (!this.cancelled.has(channel)) this.breaches.push(`${type} on a channel that is not open`);
      return;
    }
    this.#takeFor(exchange, frame);
  }

  #takeFor(exchange: Exchange, { type, payload }: frames.Frame): void {
    if (type === 'head') {
      if (exchange.head) this.breaches.push('two heads');
      exchange.head = frames.parsePayload('head', payload);
    } else if (type === 'data') {
      if (!exchange.head) this.breaches.push('data before its head');
      exchange.parts.push(Buffer.from(payload));
      exchange.uncovered += payload.length;
      if (exchange.uncovered > frames.WINDOW_BYTES) this.breaches.push('more than the window');
      exchange.cover();
    } else if (type === 'end') {
      if (!exchange.head) return void this.breaches.push('an end without a head');
      exchange.end({ ...exchange.head, body: Buffer.concat(exchange.parts) });
    } else if (type === 'reset') {
      const { code = 'none', message = '' } = frames.parsePayload('reset', payload) ?? {};
      exchange.end(new Reset(code, message));
    } else {
      this.breaches.push(`a frame ${type}`);
    }
  }
}
