/**
 * Responses of bytes that many of them share, as a list that was made before: the platform writes the bytes from where they lie, so that
 * a response costs no copy and little of our own time, and a slow client holds nothing of its own. Whoever takes nothing for a while is
 * hung up on.
 */
import { SMALL_BYTES } from '../shared/limits/bytes-in-flight.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import { StallTimer, type Holder } from './paced-body.ts';

/** Bytes of which it is told when the client took them. */
const SLICE = 262_144;

/** A response of these parts, one after the other. They must not change any more. */
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
    // All at once: they wait in line where they lie, and nothing of ours runs between two of them.
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
