/**
 * One WebSocket to the gateway, from the dial to its end: hello and welcome, frames to the channels, keep-alive. The dialler reconnects,
 * not the connection itself. When it ends, for any reason, all its channels are aborted.
 */
import { performance } from 'node:perf_hooks';
import * as frames from '../../../src/upstream/connector/frames.ts';
import { createChannels } from './channels.ts';
import type { Ending } from './ending.ts';
import { startKeepAlive, type KeepAlive } from './keep-alive.ts';
import { OutboundFetch } from './outbound-fetch.ts';
import type { HttpAdapter } from './stdio-http.ts';
import { within } from './within.ts';

/** Longest time from the dial to the welcome. */
const WELCOME_MS = 20_000;
/** Longest time for the last bytes to be sent. */
const CLOSE_MS = 2000;
const NORMAL = 1000;
/** Close code of a WebSocket that broke without one. */
const BROKEN = 1006;

export interface ConnectionOptions {
  /** `ws:` or `wss:`. */
  url: URL;
  /** The device token; only sent in a header. */
  token: string;
  agent: string;
  /** Adapters by registry name. */
  adapters: ReadonlyMap<string, HttpAdapter>;
  keepaliveMs: number;
  onWelcome(): void;
}

/** Open channels, and the connection's traffic so far. */
export interface Counts {
  channels: number;
  framesIn: number;
  framesOut: number;
  bytesIn: number;
  bytesOut: number;
}

export interface Connection {
  /** Never rejects. */
  ended: Promise<Ending>;
  counts(): Counts;
  /** Asks the gateway to discover a server again. */
  sendEvent(server: string): void;
  /** Refuses new requests, lets running ones end within this many milliseconds, says goodbye and closes. */
  drain(withinMs: number): Promise<void>;
}

/** Dials the gateway. */
export function openConnection(options: ConnectionOptions): Connection {
  const { url, token, agent, adapters, keepaliveMs, onWelcome } = options;
  const socket = new WebSocket(url, {
    protocols: [frames.SUBPROTOCOL],
    headers: { authorization: `Bearer ${token}` },
  });
  socket.binaryType = 'arraybuffer';
  const outboundFetch = new OutboundFetch(socket);
  const channels = createChannels(adapters, outboundFetch);
  const { promise: ended, resolve } = Promise.withResolvers<Ending>();
  let keepAlive: KeepAlive | undefined;
  let welcomedAt: number | undefined;
  let bye: Ending['bye'];
  let isOver = false;
  let framesIn = 0;
  let bytesIn = 0;

  const finish = (code: number, because?: string) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(welcomeTimer);
    keepAlive?.stop();
    channels.close();
    outboundFetch.close();
    if (socket.readyState <= WebSocket.OPEN) socket.close();
    const livedMs = welcomedAt === undefined ? 0 : performance.now() - welcomedAt;
    resolve({ code, bye, livedMs, ...(because === undefined ? {} : { because }) });
  };
  const welcomeTimer = setTimeout(finish, WELCOME_MS, BROKEN, 'the gateway did not answer');

  /** @returns false where the gateway broke the protocol */
  const takeFirst = ({ type, channel, payload }: frames.Frame): boolean => {
    const welcome = type === 'welcome' ? frames.parsePayload(type, payload) : undefined;
    if (channel !== 0 || welcome?.version !== frames.FRAMES_VERSION) return false;
    clearTimeout(welcomeTimer);
    welcomedAt = performance.now();
    const isDead = () => finish(BROKEN, 'the gateway stopped answering');
    keepAlive = startKeepAlive(keepaliveMs, () => outboundFetch.send(frames.PING), isDead);
    onWelcome();
    return true;
  };
  const takeBye = (payload: Uint8Array): boolean => {
    bye = frames.parsePayload('bye', payload)?.reason;
    // After the other two reasons, the gateway may let running requests end, and closes the connection itself.
    if (bye !== 'draining' && bye !== 'restarting') finish(NORMAL);
    return bye !== undefined;
  };
  const take = (frame: frames.Frame): boolean => {
    if (frame.type === 'bye' && frame.channel === 0) return takeBye(frame.payload);
    return welcomedAt === undefined ? takeFirst(frame) : channels.take(frame);
  };

  socket.addEventListener('open', () => {
    const servers = [...adapters.keys()];
    const hello = { version: frames.FRAMES_VERSION, agent, servers };
    outboundFetch.send(frames.toJsonFrame('hello', 0, hello));
  });
  socket.addEventListener('message', event => {
    const data: unknown = event.data;
    if (isOver) return;
    keepAlive?.heard();
    if (data === frames.PING) outboundFetch.send(frames.PONG);
    if (!(data instanceof ArrayBuffer)) return;
    framesIn += 1;
    bytesIn += data.byteLength;
    const frame = frames.parseFrame(new Uint8Array(data));
    if (frame && take(frame)) return;
    outboundFetch.send(frames.toJsonFrame('bye', 0, { reason: 'protocol' }));
    finish(BROKEN, 'the gateway broke the protocol of the connection');
  });
  socket.addEventListener('error', () => finish(BROKEN));
  socket.addEventListener('close', ({ code }) => finish(code));

  return {
    ended,
    counts: () => ({
      channels: channels.size,
      framesIn,
      framesOut: outboundFetch.frames,
      bytesIn,
      bytesOut: outboundFetch.bytes,
    }),
    sendEvent(server) {
      if (welcomedAt !== undefined) outboundFetch.send(frames.toJsonFrame('news', 0, { server }));
    },
    async drain(withinMs) {
      if (welcomedAt !== undefined) {
        await within(Promise.race([channels.drain(), ended]), withinMs);
        channels.close();
        // Sent last: on receiving it the gateway ends whatever still runs.
        outboundFetch.send(frames.toJsonFrame('bye', 0, { reason: 'draining' }));
        if (socket.readyState === WebSocket.OPEN) socket.close(NORMAL);
        await within(ended, CLOSE_MS);
      }
      finish(NORMAL);
    },
  };
}
