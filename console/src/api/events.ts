/** Requests whose response is a stream of events. */
import { SseParser } from '../../../src/http/sse-events.ts';
import { send, toProblem } from './request.ts';

/** Longest event, in characters. */
const MAX_EVENT_CHARS = 64_000_000;

/**
 * Requests a stream of events.
 * @param asked with a body the request is a POST
 * @param hear called with each event, until the stream ends or breaks off
 * @throws ApiProblem, Unreachable
 */
export async function streamEvents(
  path: string,
  { body, signal }: { body?: unknown; signal: AbortSignal },
  hear: (type: string, data: unknown) => void,
): Promise<void> {
  const method = body === undefined ? 'GET' : 'POST';
  const answer = await send(path, { method, body, signal }, 'text/event-stream');
  if (!answer.ok || !answer.body) throw await toProblem(answer);
  const parser = new SseParser(MAX_EVENT_CHARS);
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    // A stream that breaks off has ended too, unless the caller ended it.
    const { done, value } = await reader.read().catch((thrown: unknown) => {
      if (signal.aborted) throw thrown;
      return { done: true as const, value: undefined };
    });
    if (done) return;
    for (const { event, data } of parser.push(decoder.decode(value, { stream: true }))) {
      hear(event, JSON.parse(data));
    }
  }
}
