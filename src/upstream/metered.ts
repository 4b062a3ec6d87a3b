/**
 * Counts what the answers of a call have in memory, for the request that the call is made for: JSON while it is read, the largest event
 * of a stream while it is put together, and either while it is parsed. Where there is no room the server is not read, up to the time
 * that an answer may wait. What an answer holds is held until the request is over, since it is still to be written to the client.
 */
import { parsedWeight } from '../shared/json/json-weight.ts';
import { stepFor, type Meter } from '../http/read-text.ts';
import { LIGHT_CHARS, type RequestBytes } from '../shared/limits/bytes-in-flight.ts';

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
