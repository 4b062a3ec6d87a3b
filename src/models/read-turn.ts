/** Reads a model's reply, whole or streamed: whatever the dialect cannot read is a failure of the model, and a stream is bounded. */
import { BrokenOff, FormatError, type TurnReader, type TurnReply } from './formats/dialect.ts';
import { EventTooLarge, readEvents, whenAborted } from '../http/sse-events.ts';
import { ModelFailure } from './model-port.ts';
import { toAborted, type Attempt } from './retry.ts';

/** Largest event of a stream, and largest total of its events, in UTF-16 units. */
const MAX_EVENT_CHARS = 2_097_152;
const MAX_STREAM_CHARS = 16_777_216;

/** @throws ModelFailure `nonsense` where the dialect cannot read it, `broken` where it is incomplete */
export function readAs<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof BrokenOff) throw new ModelFailure('broken', undefined, thrown.partial);
    if (thrown instanceof FormatError) throw new ModelFailure('nonsense');
    throw thrown;
  }
}

/**
 * Reads a streamed reply.
 * @param onText receives its text as it arrives
 * @throws ModelFailure; whatever the body throws if it fails before any data arrived
 */
export async function readTurn(
  body: ReadableStream<Uint8Array>,
  reader: TurnReader,
  { signal, onSign, onHandedOn }: Attempt,
  onText: (text: string) => void,
): Promise<TurnReply> {
  let chars = 0;
  try {
    for await (const event of readEvents(body, MAX_EVENT_CHARS, undefined, whenAborted(signal))) {
      onSign();
      chars += event.data.length;
      if (chars > MAX_STREAM_CHARS) throw new ModelFailure('nonsense');
      const text = readAs(() => reader.read(event));
      if (text === '') continue;
      onHandedOn();
      onText(text);
    }
  } catch (thrown) {
    const isOurs = thrown instanceof ModelFailure || thrown instanceof EventTooLarge;
    // A connection that fails in the middle of an answer ends the answer there.
    if (isOurs || signal.aborted || chars === 0) throw thrown;
  }
  // A stream that was aborted ends like any other.
  if (signal.aborted) throw toAborted(signal);
  return readAs(() => reader.end());
}
