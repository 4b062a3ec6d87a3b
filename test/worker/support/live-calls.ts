/** Calls of a tool `echo` at servers created for them, and answers that the test writes step by step. */
import { SseParser } from '../../../src/http/sse-events.ts';
import { FakeServer, serve, type SeenPost } from './fake-server.ts';
import { ask, createPortico, registerConnected, type RpcAnswer } from './portico.ts';

export const ERAS = ['legacy', 'modern'] as const;
export type Era = (typeof ERAS)[number];

export const portico = createPortico();

let made = 0;

/** A connected server with its own name, and a call to it. */
export async function connect(era: Era, sessionful = false, through = portico, more = {}) {
  made += 1;
  const name = `calls-${made}`;
  const server = new FakeServer({ era, sessionful });
  serve({ [name]: server });
  const { id } = await registerConnected(through, name, more);
  return { name, server, id };
}

/** The progress token of every call of these tests. */
const PROGRESS_TOKEN = 7;

export const progress = (n: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: PROGRESS_TOKEN, progress: n, message: 'n\u00e9' },
});
export const responseTo = ({ id }: SeenPost) => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text: 'done' }] },
});

/** A call of the tool of a server, with a progress token. */
export function call(
  name: string,
  era: Era,
  params: Record<string, unknown> = {},
  id: unknown = 'c1',
) {
  const asked = { name: `${name}.echo`, _meta: { progressToken: PROGRESS_TOKEN }, ...params };
  return ask(era, 'tools/call', asked, id);
}

export const parseEvents = (text: string) =>
  new SseParser(1e6)
    .push(text)
    .map(
      ({ data }) =>
        JSON.parse(data) as RpcAnswer & { method?: string; params?: { progress: number } },
    );

/** The next events of an answer as they arrive; comments, which keep it alive, are skipped. */
export async function readNext(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<ReturnType<typeof parseEvents>> {
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    const events = parseEvents(new TextDecoder().decode(value));
    if (done || events.length > 0) return events;
  }
}

/** Bytes of an event stream that the test writes step by step. */
export function createStream(post: SeenPost) {
  const encoder = new TextEncoder();
  const state = { cancelled: false };
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: controller => {
      sink = controller;
      post.signal.addEventListener('abort', () =>
        controller.error(new DOMException('aborted', 'AbortError')),
      );
    },
    cancel: () => {
      state.cancelled = true;
    },
  });
  return {
    response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    state,
    write: (message: unknown) =>
      sink?.enqueue(encoder.encode(`data: ${JSON.stringify(message)}\n\n`)),
    breakOff: () => sink?.error(new TypeError('Network connection lost')),
    close: () => sink?.close(),
  };
}
