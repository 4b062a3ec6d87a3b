/**
 * Responses whose bytes many of them share, such as a list that was built before: the platform writes the bytes from
 * where they are, so that a response costs no copy and little CPU time, and a slow client holds no memory of its own. A
 * client that takes nothing for a while is disconnected.
 */
import { SMALL_BYTES } from '../shared/limits/bytes-in-flight.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import { StallTimer, type Holder } from './paced-body.ts';

/** Bytes of one write; its completion shows that the client took them. */
const SLICE = 262_144;

/** Returns a response of these parts in order. They must not change afterwards. */
export function sharedBytesResponse(
  parts: readonly Uint8Array[],
  init: ResponseInit,
  waitUntil: WaitUntil,
  holder?: Holder,
): Response {
  const size = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (size <= SMALL_BYTES) return new Response(joined(parts, size), init);
  const { readable, writable } = new FixedLengthStream(size);
  waitUntil(write(writable.getWriter(), parts, holder));
  return new Response(readable, init);
}

async function write(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  parts: readonly Uint8Array[],
  holder: Holder | undefined,
): Promise<void> {
  const release = holder?.retain() ?? (() => {});
  const stall = new StallTimer(holder, () => {
    writer.abort(new Error('The client takes nothing')).catch(() => {});
  });
  const taken = () => stall.start();
  try {
    taken();
    // All writes are queued at once: the bytes wait where they are, and no write waits for our code.
    const written = parts.flatMap(slicesOf).map(slice => writer.write(slice).then(taken));
    await Promise.all([...written, writer.close()]);
  } catch {
    // The client is gone.
  } finally {
    stall.stop();
    release();
  }
}

function slicesOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.byteLength / SLICE);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * SLICE, (i + 1) * SLICE));
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
