/** A client's stream of the deprecated HTTP+SSE transport, read as it comes, and the address for its messages. */
import { SseParser } from '../../../src/http/sse-events.ts';

export interface OldStream {
  /** Where the client of this stream posts its messages. */
  url: string;
  /** The messages received so far. */
  messages(): unknown[];
  close(): void;
}

export async function openOldStream(origin: string, token: string): Promise<OldStream> {
  const controller = new AbortController();
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
  const response = await fetch(`${origin}/sse`, { headers, signal: controller.signal });
  if (response.status !== 200 || !response.body) throw new Error(`${response.status}`);
  const parser = new SseParser(2 ** 20);
  const messages: unknown[] = [];
  let onEndpoint = (_path: string): void => undefined;
  const endpoint = new Promise<string>(resolve => (onEndpoint = resolve));
  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      for (const { event, data } of parser.push(chunk)) {
        if (event === 'endpoint') onEndpoint(data);
        else messages.push(JSON.parse(data));
      }
    }
  };
  void read(response.body).catch(() => undefined);
  const url = `${origin}${await endpoint}`;
  return { url, messages: () => [...messages], close: () => controller.abort() };
}
