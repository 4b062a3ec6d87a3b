/**
 * Reads others' texts up to a limit: natively if their length is known, and metered if a meter counts what is in
 * memory. Metered are JSON while it is read, the largest event of a stream while it is assembled, and either while it
 * is parsed. If there is no room, the reading waits as long as a response may wait. The counted bytes are held until
 * the request that they are counted for is over.
 */
import { parsedWeight } from '../shared/json/json-weight.ts';
import { LIGHT_CHARS, type RequestBytes } from '../shared/limits/bytes-in-flight.ts';

/** For whole texts only: it keeps no state between two texts. */
export const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export class BodyTooLarge extends Error {}

/** Encoded bodies of clients are refused: a body that is small on the wire could be unbounded in memory. */
export const ENCODED = 'Send the body as it is, without Content-Encoding';

/** Whether the headers declare an encoded body. */
export const isEncoded = (headers: Headers): boolean =>
  (headers.get('content-encoding') ?? 'identity').trim().toLowerCase() !== 'identity';

/** Returns the media type of a body in lower case, without its parameters; empty if there is none (RFC 9110, section 8.3.1). */
export const mediaTypeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? '';

/** Whether the body of a response is an event stream. */
export const isEventStream = ({ headers }: Response): boolean =>
  mediaTypeOf(headers) === 'text/event-stream';

/** Counts the bytes that are read. An error of `take` ends the reading; if it returns a promise, reading waits for it. */
export interface Meter {
  /** @param isPartial more may follow */
  take(bytes: number, isPartial: boolean): Promise<void> | undefined;
  /** The text is complete; this many of the counted bytes were not needed. */
  end(unneeded: number): void;
}

/** A text of unknown length is counted byte by byte up to the first of these sizes, then in whole steps, the last being the limit. */
const STEPS = [65_536, 1_048_576] as const;

/**
 * @param headers the message's headers; the length counts only without an encoding, since the text is read decoded
 * @param isStrict invalid UTF-8 throws TypeError
 * @throws BodyTooLarge past `maxBytes`; the stream's error if it breaks off; the meter's error
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
  // A text in chunks may be longer than the length that it names: the runtime goes by its chunks (RFC 9112, section 6.3).
  const isOther = headers.has('content-encoding') || headers.has('transfer-encoding');
  const declared = isOther ? null : headers.get('content-length');
  const length = declared === null ? NaN : Number(declared);
  if (length > maxBytes) {
    // A response keeps its connection until its body is read or dropped.
    if (source instanceof Response) source.body?.cancel().catch(() => {});
    throw new BodyTooLarge();
  }
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

/** Returns how many bytes to count once this many have been read. */
function stepFor(bytes: number, maxBytes: number): number {
  const [exact, step] = STEPS;
  if (bytes <= exact) return bytes;
  return bytes <= step ? Math.min(step, maxBytes) : maxBytes;
}

/** Returns a meter for a text that is read whole. */
export function toMeter(bytes: RequestBytes, signal: AbortSignal): Meter {
  return {
    take: (more, isPartial) => bytes.wait(more, isPartial, signal),
    end(unneeded) {
      bytes.give(unneeded);
      bytes.settle();
    },
  };
}

/** Returns a meter for the largest event of a stream. */
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

/** Whether a text is long enough to be weighed. */
export const isHeavy = (text: string): boolean => text.length > LIGHT_CHARS;

/** Waits until there is room to parse a text. @returns gives the room back; call it once the text is parsed */
export async function roomToParse(
  text: string,
  bytes: RequestBytes,
  signal: AbortSignal,
): Promise<() => void> {
  const weight = parsedWeight(text);
  await bytes.wait(weight, false, signal);
  return () => bytes.give(weight);
}
