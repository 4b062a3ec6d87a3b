/** Requests whose response is a stream of events. */
import { SseParser } from '../../../src/http/sse-events.ts';
import { send, toProblem } from './request.ts';

/** Longest event, in characters. */
const MAX_EVENT_CHARS = 64_000_000;

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as this text; a browser may lack it. */
    rawJSON?(text: string): object;
  }
}

/** Keeps a number that JavaScript would round as it was written, where the browser can. */
function exactly(_key: string, value: unknown, written?: { source?: string }): unknown {
  const isRounded = typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  const { source } = written ?? {};
  return isRounded && source !== undefined ? (JSON.rawJSON?.(source) ?? value) : value;
}

/**
 * Requests a stream of events.
 * @param asked with a text, which is its body, the request is a POST
 * @param hear called with each event, until the stream ends or breaks off
 * @throws ApiProblem, Unreachable
 */
export async function streamEvents(
  path: string,
  { text, signal }: { text?: string; signal: AbortSignal },
  hear: (type: string, data: unknown) => void,
): Promise<void> {
  const asked = text === undefined ? { signal } : { method: 'POST' as const, text, signal };
  const answer = await send(path, asked, 'text/event-stream');
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
      hear(event, JSON.parse(data, exactly));
    }
  }
}
