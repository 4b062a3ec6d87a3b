/**
 * Reads texts of others up to a bound, natively where their length is known, and counted where somebody counts what is in memory: JSON
 * while it is read, the largest event of a stream while it is put together, and either while it is parsed. What is counted waits where
 * there is no room, up to the time that an answer may wait, and is held until the request is over that it is counted for.
 */
import { parsedWeight } from '../shared/json/json-weight.ts';
import { LIGHT_CHARS, type RequestBytes } from '../shared/limits/bytes-in-flight.ts';

/** For whole texts only: it keeps nothing from one to the next. */
export const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export class BodyTooLarge extends Error {}

/** No body of a client is decoded: what is small on the wire could be without bound in memory. */
export const ENCODED = 'Send the body as it is, without Content-Encoding';

/** Whether a message says that its body is encoded. */
export const isEncoded = (headers: Headers): boolean =>
  (headers.get('content-encoding') ?? 'identity').trim().toLowerCase() !== 'identity';

/** Counts the bytes that are read. What `take` throws ends the reading; where it gives a promise, nothing is read until that settles. */
export interface Meter {
  /** @param isPartial more may follow */
  take(bytes: number, isPartial: boolean): Promise<void> | undefined;
  /** The text is whole; so much of what was counted was not needed. */
  end(unneeded: number): void;
}

/** A text of unknown length is counted byte by byte up to the first of these, then in whole steps, the last being the bound. */
const STEPS = [65_536, 1_048_576] as const;

/**
 * @param headers of the message; the length counts only where nothing is encoded, since what is read
 *   is decoded
 * @param isStrict what is no UTF-8 throws TypeError
 * @throws BodyTooLarge past `maxBytes`; what the stream throws where it breaks off; what the meter throws
 */
export async function readText(
  source: {
    body: ReadableStream<Uint8Array> | null;
    text(): Promise<string>;
    arrayBuffer(): Promise<ArrayBuffer>;
  },
  headers: Headers,
  maxBytes: number,
  meter?: Meter,
  isStrict = false,
): Promise<string> {
  const declared = headers.has('content-encoding') ? null : headers.get('content-length');
  const length = declared === null ? NaN : Number(declared);
  if (length > maxBytes) throw new BodyTooLarge();
  if (Number.isInteger(length)) {
    const waiting = meter?.take(length, false);
    if (waiting) await waiting;
    return isStrict ? STRICT.decode(await source.arrayBuffer()) : source.text();
  }
  if (source.body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: isStrict, ignoreBOM: false });
  const reader = source.body.getReader();
  let bytes = 0;
  let counted = 0;
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      if (bytes > maxBytes) throw new BodyTooLarge();
      if (meter && bytes > counted) {
        const next = stepFor(bytes, maxBytes);
        const waiting = meter.take(next - counted, next < maxBytes);
        counted = next;
        if (waiting) await waiting;
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
  meter?.end(counted - bytes);
  return text + decoder.decode();
}

/** How much is to be counted where so many bytes have been read. */
function stepFor(bytes: number, maxBytes: number): number {
  const [exact, step] = STEPS;
  if (bytes <= exact) return bytes;
  return bytes <= step ? Math.min(step, maxBytes) : maxBytes;
}

/** Counts a text that is read whole. */
export function toMeter(bytes: RequestBytes, signal: AbortSignal): Meter {
  return {
    take: (more, isPartial) => bytes.wait(more, isPartial, signal),
    end(unneeded) {
      bytes.give(unneeded);
      bytes.settle();
    },
  };
}

/** Counts the largest event of a stream. */
export function toEventMeter(
  bytes: RequestBytes,
  maxChars: number,
  signal: AbortSignal,
): (chars: number) => Promise<void> | undefined {
  let counted = 0;
  return chars => {
    const next = stepFor(Math.min(chars, maxChars), maxChars);
    if (next <= counted) return undefined;
    const more = next - counted;
    counted = next;
    return bytes.wait(more, next < maxChars, signal);
  };
}

/** Whether a text is worth weighing. */
export const isHeavy = (text: string): boolean => text.length > LIGHT_CHARS;

/** Waits until there is room for a text to be parsed. @returns gives that back, to be called once it is parsed */
export async function roomToParse(
  text: string,
  bytes: RequestBytes,
  signal: AbortSignal,
): Promise<() => void> {
  const weight = parsedWeight(text);
  await bytes.wait(weight, false, signal);
  return () => bytes.give(weight);
}
