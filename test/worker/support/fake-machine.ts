/**
 * An in-test machine of a connector: it dials, speaks the frames, and answers requests with fake servers. The test controls its timing
 * (flow control, a cut connection, silence).
 */
import { expect } from 'vitest';
import {
  FRAMES_VERSION,
  parseFrame,
  parsePayload,
  SUBPROTOCOL,
  toDataFrames,
  toFrame,
  toJsonFrame,
  WINDOW_BYTES,
  type Frame,
  type Payload,
} from '../../../src/upstream/connector/frames.ts';
import type { Portico } from './portico.ts';

/** Answers a request like a server's HTTP adapter. */
export type Face = (request: Request) => Response | Promise<Response>;

interface Channel {
  open: Payload<'open'>;
  body: Uint8Array[];
  credit: number;
  wake?: () => void;
  controller: AbortController;
}

export interface Enrolled {
  id: string;
  token: string;
}

/** Enrols a connector. */
export async function enrol(portico: Portico, name: string): Promise<Enrolled> {
  const response = await portico.api('POST', '/api/v1/connectors', { name });
  expect([name, response.status]).toEqual([name, 201]);
  const { connector, token } = await response.json<{ connector: { id: string }; token: string }>();
  return { id: connector.id, token };
}

export class FakeMachine {
  readonly #faces: Readonly<Record<string, Face>>;
  readonly #channels = new Map<number, Channel>();
  #socket: WebSocket | undefined;
  /** Every received frame. */
  readonly seen: Frame[] = [];
  /** The closing message of the gateway, once it arrived. */
  bye: string | undefined;
  closeCode: number | undefined;

  constructor(faces: Readonly<Record<string, Face>>) {
    this.#faces = faces;
  }

  /** Dials and is welcomed. @returns the status of the response if it is no socket */
  async dial(portico: Portico, token: string): Promise<number> {
    const response = await portico.fetch('/connect', {
      headers: {
        upgrade: 'websocket',
        'sec-websocket-protocol': SUBPROTOCOL,
        authorization: `Bearer ${token}`,
      },
    });
    const { webSocket: socket } = response;
    if (!socket) return response.status;
    const agreed = response.headers.get('sec-websocket-protocol');
    if (agreed !== SUBPROTOCOL) throw new Error(`The gateway speaks ${agreed}`);
    socket.binaryType = 'arraybuffer';
    socket.accept();
    this.#socket = socket;
    const welcomed = new Promise<void>(resolve => {
      socket.addEventListener('message', ({ data }) => {
        if (!(data instanceof ArrayBuffer)) return;
        const frame = parseFrame(new Uint8Array(data.slice(0)));
        if (!frame) throw new Error('The gateway sent what is no frame');
        if (frame.type === 'welcome') resolve();
        this.#hear(frame);
      });
      socket.addEventListener('close', ({ code }) => {
        this.closeCode = code;
        resolve();
      });
    });
    const servers = Object.keys(this.#faces);
    socket.send(toJsonFrame('hello', 0, { version: FRAMES_VERSION, agent: 'fake/1', servers }));
    await welcomed;
    return response.status;
  }

  send(frame: Uint8Array | string): void {
    // Frames on their way are lost when the connection breaks.
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(frame);
  }

  /** Breaks the connection without a closing message. */
  cut(): void {
    for (const { controller } of this.#channels.values()) controller.abort();
    this.#socket?.close(1001);
  }

  of(type: Frame['type']): Frame[] {
    return this.seen.filter(frame => frame.type === type);
  }

  #hear(frame: Frame): void {
    this.seen.push(frame);
    const { type, channel: id, payload } = frame;
    if (type === 'bye') this.bye = parsePayload('bye', payload)?.reason;
    if (type === 'open') {
      const open = parsePayload('open', payload);
      const controller = new AbortController();
      if (!open) throw new Error('The gateway sent no proper request');
      this.#channels.set(id, { open, body: [], credit: WINDOW_BYTES, controller });
    }
    const channel = this.#channels.get(id);
    if (!channel) return;
    if (type === 'data') channel.body.push(payload);
    if (type === 'end') void this.#answer(id, channel);
    if (type === 'reset') channel.controller.abort();
    if (type === 'credit') {
      channel.credit += parsePayload('credit', payload)?.bytes ?? 0;
      channel.wake?.();
    }
  }

  async #answer(id: number, channel: Channel): Promise<void> {
    const { open, body, controller } = channel;
    const face = this.#faces[open.server];
    if (!face) {
      this.send(
        toJsonFrame('reset', id, { code: 'unknown_server', message: 'There is no such server' }),
      );
      return;
    }
    const text = await new Blob(body).text();
    const { signal } = controller;
    const init = { method: open.method, headers: open.headers, signal };
    const request = new Request(
      'https://machine.invalid/',
      open.method === 'POST' ? { ...init, body: text } : init,
    );
    const response = await face(request);
    this.send(
      toJsonFrame('head', id, {
        status: response.status,
        headers: Object.fromEntries(response.headers),
      }),
    );
    await this.#sendBody(id, channel, response.body);
    this.#channels.delete(id);
  }

  async #sendBody(id: number, channel: Channel, body: Response['body']): Promise<void> {
    const { signal } = channel.controller;
    if (body)
      await pipe(body, signal, async bytes => {
        for (const frame of toDataFrames(id, bytes)) {
          while (channel.credit < frame.length && !signal.aborted) {
            await new Promise<void>(resolve => (channel.wake = resolve));
          }
          channel.credit -= frame.length - 5;
          if (!signal.aborted) this.send(frame);
        }
      });
    if (!signal.aborted) this.send(toFrame('end', id));
  }
}

async function pipe(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const reader = body.getReader();
  signal.addEventListener('abort', () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) return;
    await take(value);
  }
}
