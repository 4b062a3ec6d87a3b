/**
 * Replies of a call as HTTP responses in the client's era. The raw result goes through untouched;
 * the only thing ever added is `resultType` for a modern client where a legacy server has none.
 */
import { PorticoError, toPorticoError } from '../errors/portico-error.ts';
import { toRpcErrorText } from '../errors/to-json-rpc.ts';
import { toToolResultText } from '../errors/to-tool-result.ts';
import type { RoutedReply } from '../gateway/gateway.ts';
import { ToolFailure } from '../gateway/tool-failure.ts';
import { toSseText } from '../lib/sse-events.ts';
import type { Era, RequestId } from '../protocol.ts';
import type { RawResponse, UpstreamMessage } from '../upstream/message.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** The one upstream error that modern clients must get with status 400. */
const MISSING_CLIENT_CAPABILITY = -32021;

/** JSON text of a response with a raw result. */
export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** A response with a raw result. */
export function resultResponse(id: RequestId, result: string, headers = {}): Response {
  return new Response(resultText(id, result), { headers: { ...JSON_HEADERS, ...headers } });
}

const encoder = new TextEncoder();
const END = encoder.encode('}');

/** The same with a result whose UTF-8 is at hand, which matters where it is large. */
export function resultBytesResponse(id: RequestId, result: Uint8Array): Response {
  const head = encoder.encode(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`);
  const body = new Uint8Array(head.length + result.length + END.length);
  body.set(head);
  body.set(result, head.length);
  body.set(END, head.length + result.length);
  return new Response(body, { headers: JSON_HEADERS });
}

/** `{"resultType":"complete",…}` around a raw result that has none. */
function completed(result: string): string {
  const rest = result.slice(result.indexOf('{') + 1);
  return `{"resultType":"complete"${/^\s*\}/.test(rest) ? '' : ','}${rest}`;
}

/** JSON text of an upstream's response for a client of `era`. */
function responseText(response: RawResponse, id: RequestId, era: Era, server: string): string {
  if ('error' in response) {
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${response.error}}`;
  }
  const { resultType } = response.parsed;
  if (era === 'modern') {
    return resultText(id, resultType === undefined ? completed(response.result) : response.result);
  }
  if (resultType === 'input_required') {
    return failureText(new PorticoError('upstream_needs_input'), id, era, server);
  }
  return resultText(id, response.result);
}

function failureText(error: PorticoError, id: RequestId, era: Era, server: string): string {
  const result = toToolResultText(error, server);
  return resultText(id, era === 'modern' ? completed(result) : result);
}

/** A thrown value of a call as JSON text: a tool result where the upstream is at fault. */
export function thrownText(thrown: unknown, id: RequestId, era: Era): string {
  if (thrown instanceof ToolFailure) {
    return failureText(thrown.reason, id, era, thrown.server.name);
  }
  const error = toPorticoError(thrown);
  const server = error.extras.data?.['server'];
  if (error.entry.toolResult) {
    const name = (server as { name?: string } | undefined)?.name ?? 'server';
    return failureText(error, id, era, name);
  }
  return toRpcErrorText(error, id, era);
}

/** The reply of a call. Streams where the upstream streams and the client takes streams. */
export async function replyResponse(
  { server, reply }: RoutedReply,
  id: RequestId,
  era: Era,
  acceptsStream: boolean,
): Promise<Response> {
  if ('response' in reply) {
    const isCapability =
      era === 'modern' &&
      'error' in reply.response &&
      reply.response.parsed['code'] === MISSING_CLIENT_CAPABILITY;
    return new Response(responseText(reply.response, id, era, server.name), {
      status: isCapability ? 400 : 200,
      headers: JSON_HEADERS,
    });
  }
  const texts = toTexts(reply.messages, id, era, server.name);
  if (acceptsStream) return new Response(toStream(texts), { headers: STREAM_HEADERS });
  let last = '';
  for await (const text of texts) last = text;
  return new Response(last, { headers: JSON_HEADERS });
}

/** Each message as JSON text, the response (or the failure in its place) last. */
async function* toTexts(
  messages: AsyncGenerator<UpstreamMessage, void, undefined>,
  id: RequestId,
  era: Era,
  server: string,
): AsyncGenerator<string, void, undefined> {
  try {
    for await (const message of messages) {
      if (message.kind === 'notification') yield message.text;
      if (message.kind === 'response') yield responseText(message, id, era, server);
    }
  } catch (thrown) {
    yield failureText(toPorticoError(thrown), id, era, server);
  }
}

/** Texts as an event stream; a client that goes away ends the generator. */
function toStream(texts: AsyncGenerator<string, void, undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(toSseText(value)));
    },
    async cancel() {
      await texts.return();
    },
  });
}
