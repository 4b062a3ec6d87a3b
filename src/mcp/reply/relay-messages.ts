/**
 * Turns a reply into the texts of its messages: notifications as they come, the response last. Server requests go to a legacy client in a
 * session under ids of the gateway's own. A modern server's `input_required` becomes such requests too, and the answers go back in a
 * repeated call, as that era wants it. A modern client gets `input_required` itself.
 */
import type { RoutedReply } from '../../gateway/gateway.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { canAnswer } from '../../shared/client-capabilities.ts';
import type { QuestionChannel, SentRequest } from '../../sessions/question-channel.ts';
import type { CallMessage, CallReply } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { Question, RawAnswer } from '../../upstream/protocol/server-request.ts';

/** Most rounds of input requests of one call. */
const MAX_ROUNDS = 16;

export interface Relayed {
  routed: Relayable;
  /** Opens the channel for the client's answers; absent where the client can answer no server request. */
  openChannel: (() => Promise<QuestionChannel>) | undefined;
  /** Which server requests the client can answer. */
  capabilities: JsonObject;
  /** Returns the JSON text of the final response. */
  toText(response: RawResponse): string;
}

/** Whether a response asks for input instead of giving a result. */
export function asksForInput(response: RawResponse): boolean {
  return response.parsed['resultType'] === 'input_required';
}

/** @throws PorticoError with an `upstream_*` code, after what has been yielded */
export async function* relayTexts(relayed: Relayed): AsyncGenerator<string, void, undefined> {
  let channel: QuestionChannel | undefined;
  const open = async () => {
    if (!relayed.openChannel) throw new PorticoError('upstream_needs_input');
    // No answer comes on one that was closed, as when the client's object starts anew.
    if (!channel?.isOpen) channel = await relayed.openChannel();
    return channel;
  };
  try {
    let reply: CallReply = relayed.routed.reply;
    for (let round = 1; ; round += 1) {
      const response: RawResponse = yield* untilResponse(reply, open);
      if (!relayed.openChannel || !asksForInput(response)) {
        yield relayed.toText(response);
        return;
      }
      const extra = yield* answersTo(response, round, relayed, open);
      if ('kind' in extra) {
        yield relayed.toText(extra);
        return;
      }
      reply = await relayed.routed.retry(extra);
    }
  } finally {
    channel?.close();
  }
}

/**
 * Returns the client's answers as the next round carries them, or the response to give where the client does not answer.
 * @throws PorticoError `upstream_needs_input` where a missing answer is a failure
 */
async function* answersTo(
  response: RawResponse,
  round: number,
  { routed, capabilities }: Relayed,
  open: () => Promise<QuestionChannel>,
): AsyncGenerator<string, RawObject | RawResponse, undefined> {
  try {
    if (round < MAX_ROUNDS) return yield* askAll(response, capabilities, open);
    throw new PorticoError('upstream_needs_input', 'The server asks for input too often');
  } catch (thrown) {
    if (!routed.onUnanswered || !(thrown instanceof PorticoError)) throw thrown;
    return routed.onUnanswered();
  }
}

/** Passes on what comes before the response; the client's answers take a channel of their own. */
async function* untilResponse(
  reply: CallReply,
  open: () => Promise<QuestionChannel>,
): AsyncGenerator<string, RawResponse, undefined> {
  if ('response' in reply) return reply.response;
  const sent = new Map<Question, SentRequest>();
  for await (const message of reply.messages as AsyncIterable<CallMessage>) {
    if (message.kind === 'response') return message;
    if (message.kind === 'notification') {
      yield message.text;
      continue;
    }
    if (message.kind === 'cancellation') {
      const asked = sent.get(message.of);
      sent.delete(message.of);
      asked?.drop();
      if (asked) yield cancelledText(asked.id, message.params);
      continue;
    }
    const channel = await open();
    const asked = channel.ask(message.method, message.params);
    sent.set(message, asked);
    yield asked.text;
    void passBack(asked.answer, async given => {
      if (sent.delete(message)) await message.answer(given);
    });
  }
  throw new PorticoError('upstream_no_response');
}

/** Cancels a server request at the client, under the id the client knows and with the server's reason. */
function cancelledText(id: string, params: string): string {
  const named = fromRawMembers(rawMembers(params).set('requestId', JSON.stringify(id)));
  return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${named}}`;
}

async function passBack(
  answer: Promise<RawAnswer>,
  give: (answer: RawAnswer) => Promise<void>,
): Promise<void> {
  await give(await answer).catch(() => {});
}

/** Params of a server request in legacy form, where a page to be opened has an id. */
function toLegacyParams(method: string, params: string): string {
  if (method !== 'elicitation/create') return params;
  const members = rawMembers(params);
  if (members.get('mode') !== '"url"' || members.has('elicitationId')) return params;
  const id = JSON.stringify(crypto.randomUUID());
  return fromRawMembers(new Map([...members, ['elicitationId', id]]));
}

/** Asks the client everything that a modern server wants to know. @returns what the next round carries */
async function* askAll(
  response: RawResponse,
  capabilities: JsonObject,
  open: () => Promise<QuestionChannel>,
): AsyncGenerator<string, RawObject, undefined> {
  const result = rawMembers('result' in response ? response.result : '{}');
  const requests = [...rawMembers(result.get('inputRequests') ?? '{}')].map(([key, raw]) => {
    const request = rawMembers(raw);
    const method: unknown = JSON.parse(request.get('method') ?? 'null');
    return { key, method: String(method), params: request.get('params') ?? '{}' };
  });
  if (!requests.every(({ method }) => canAnswer(capabilities, method))) {
    throw new PorticoError('upstream_needs_input');
  }
  const answers: [key: string, answer: Promise<RawAnswer>][] = [];
  for (const { key, method, params } of requests) {
    const channel = await open();
    const { text, answer } = channel.ask(method, toLegacyParams(method, params));
    yield text;
    answers.push([key, answer]);
  }
  const responses: RawObject = new Map();
  for (const [key, answer] of answers) {
    const given = await answer;
    if ('error' in given) {
      throw new PorticoError('upstream_needs_input', 'The client did not answer a question');
    }
    responses.set(key, given.result);
  }
  const state = result.get('requestState');
  const extra: RawObject = new Map([['inputResponses', fromRawMembers(responses)]]);
  return state === undefined ? extra : extra.set('requestState', state);
}

/** What is relayed to a client: the reply of a server, or that of a tool of the gateway's own. */
export type Relayable = Pick<
  RoutedReply,
  'reply' | 'retry' | 'toResult' | 'takesOtherTypes' | 'onReplaced'
> & {
  server: { name: string };
  /** Returns a raw result to give instead of a server's refusal, given parsed; undefined lets the refusal stand. */
  toRefusedResult?(error: JsonObject): string | undefined;
  /** Returns the response for a client that was asked and did not answer; absent where that is a failure. */
  onUnanswered?(): Promise<RawResponse>;
};
