/**
 * The frames that a connector and the gateway exchange over one WebSocket, version 1; shared with the command line. A request of the
 * gateway to a server on the connector's machine is one channel: it is HTTP in small (method, headers, body; status, headers, body), so
 * that a server behind a connector is an upstream like any other. Pure.
 *
 * A frame is one binary message: type (1 byte), channel (4 bytes, big-endian), payload. Channel 0 is the connection itself. Keep-alive is
 * the text message `ping`, answered with `pong`.
 *
 * open → [data…] end                 the request; a body that is not sent within the window is refused
 *        head ← [data…] ← end ←      the response; the connector sends at most WINDOW_BYTES of data that `credit` did not cover
 * reset in either direction ends the channel at once. Nothing is ever sent on a channel after it ended.
 */
import { z } from 'zod';
import { parseWithin } from '../../shared/json/json-spans.ts';

/** Sent in `hello` and `welcome`; an unknown version is refused with `bye`. */
export const FRAMES_VERSION = 1;
/** WebSocket subprotocol of the connection. */
export const SUBPROTOCOL = 'portico.connector.v1';
/** Most payload bytes of one frame. */
export const CHUNK_BYTES = 65_536;
/** Bytes of data of one channel that may be in flight to the gateway. */
export const WINDOW_BYTES = 1_048_576;
const HEAD_BYTES = 5;
export const MAX_FRAME_BYTES = HEAD_BYTES + CHUNK_BYTES;
export const PING = 'ping';
export const PONG = 'pong';

const TYPES = [
  'hello',
  'welcome',
  'open',
  'head',
  'data',
  'end',
  'reset',
  'credit',
  'news',
  'bye',
] as const;
export type FrameType = (typeof TYPES)[number];

export interface Frame {
  type: FrameType;
  channel: number;
  payload: Uint8Array;
}

const texts = z.record(z.string(), z.string());

/** The JSON payloads, by type. Of the other types, `data` is bytes and `end` is empty. */
export const PAYLOADS = {
  /** From the connector, first: the names of the servers that it offers. */
  hello: z.object({ version: z.number(), agent: z.string(), servers: z.array(z.string()) }),
  /** From the gateway, in answer. */
  welcome: z.object({
    version: z.number(),
    connector: z.object({ id: z.string(), name: z.string() }),
  }),
  /** From the gateway: a request to a server, by its name in `hello`. */
  open: z.object({
    server: z.string(),
    method: z.enum(['POST', 'GET', 'DELETE']),
    headers: texts,
  }),
  /** From the connector: the beginning of the response. */
  head: z.object({ status: z.number().int(), headers: texts }),
  /** Why a channel ended early. */
  reset: z.object({
    code: z.enum(['cancelled', 'offline', 'unknown_server', 'too_large', 'failed']),
    message: z.string(),
  }),
  credit: z.object({ bytes: z.number().int().positive() }),
  /** From the connector: a server should be discovered again, since it started anew or is gone. */
  news: z.object({ server: z.string() }),
  /** Last, from either side; the connector reconnects only after `draining` and `restarting`. */
  bye: z.object({
    reason: z.enum(['replaced', 'revoked', 'draining', 'restarting', 'version', 'protocol']),
  }),
} as const;
export type JsonType = keyof typeof PAYLOADS;
export type Payload<T extends JsonType> = z.infer<(typeof PAYLOADS)[T]>;

/** @param payload at most CHUNK_BYTES */
export function toFrame(
  type: FrameType,
  channel: number,
  payload: Uint8Array = new Uint8Array(),
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEAD_BYTES + payload.length);
  bytes[0] = TYPES.indexOf(type) + 1;
  new DataView(bytes.buffer).setUint32(1, channel);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

/** Returns a frame whose payload is JSON. */
export function toJsonFrame<T extends JsonType>(
  type: T,
  channel: number,
  payload: Payload<T>,
): Uint8Array<ArrayBuffer> {
  return toFrame(type, channel, new TextEncoder().encode(JSON.stringify(payload)));
}

/** Splits bytes into `data` frames, in order. */
export function* toDataFrames(
  channel: number,
  bytes: Uint8Array,
): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    yield toFrame('data', channel, bytes.subarray(from, from + CHUNK_BYTES));
  }
}

/** @returns undefined if the bytes are no frame of this version */
export function parseFrame(bytes: Uint8Array): Frame | undefined {
  const type = TYPES[(bytes[0] ?? 0) - 1];
  if (type === undefined || bytes.length < HEAD_BYTES || bytes.length > MAX_FRAME_BYTES)
    return undefined;
  const channel = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  return { type, channel, payload: bytes.subarray(HEAD_BYTES) };
}

/** @returns undefined if the payload does not fit its type */
export function parsePayload<T extends JsonType>(
  type: T,
  payload: Uint8Array,
): Payload<T> | undefined {
  let value: unknown;
  try {
    value = parseWithin(new TextDecoder().decode(payload));
  } catch {
    return undefined;
  }
  const parsed = PAYLOADS[type].safeParse(value);
  return parsed.success ? (parsed.data as Payload<T>) : undefined;
}

/** Moves a frame to another channel; the bytes are changed in place. */
export function onChannel<B extends Uint8Array>(bytes: B, channel: number): B {
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(1, channel);
  return bytes;
}
