/** A reply of a model as it is read: what is not of its dialect is a failure of the model, and a stream has an end. */
import { FormatError, type TurnReader, type TurnReply } from '../formats/dialect.ts';
import { readEvents } from '../lib/sse-events.ts';
import { ModelFailure } from './model-port.ts';
import { toAborted, type Attempt } from './patience.ts';

/** Largest event of a stream, and all of them together, in UTF-16 units. */
const MAX_EVENT_CHARS = 2_097_152;
const MAX_STREAM_CHARS = 16_777_216;

/** @throws ModelFailure `problem` where the dialect cannot read it */
export function readAs<T>(read: () => T, problem: 'nonsense' | 'broken' = 'nonsense'): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof FormatError) throw new ModelFailure(problem);
    throw thrown;
  }
}

/**
 * A reply that comes as events.
 * @param onText told of its text as it comes
 * @throws ModelFailure, and what the body throws where it breaks off
 */
export async function readTurn(
  body: ReadableStream<Uint8Array>,
  reader: TurnReader,
  { signal, onSign, onHandedOn }: Attempt,
  onText: (text: string) => void,
): Promise<TurnReply> {
  let chars = 0;
  for await (const event of readEvents(body, MAX_EVENT_CHARS, undefined, signal)) {
    onSign();
    chars += event.data.length;
    if (chars > MAX_STREAM_CHARS) throw new ModelFailure('nonsense');
    const text = readAs(() => reader.read(event));
    if (text === '') continue;
    onHandedOn();
    onText(text);
  }
  // A stream that was hung up on ends like any other.
  if (signal.aborted) throw toAborted(signal);
  return readAs(() => reader.end(), 'broken');
}
