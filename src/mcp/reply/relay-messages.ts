/**
 * A reply as the texts of its messages: notifications as they come, the response last. A legacy
 * client in a session is asked what its servers want to know, under ids of our own; a modern
 * server's `input_required` becomes such questions too, and their answers go back with the same
 * call, made again as that era wants it. A modern client gets `input_required` itself.
 */
import type { RoutedReply } from '../../gateway/gateway.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { canBeAsked } from '../../shared/client-capabilities.ts';
import type { QuestionLine } from '../../sessions/question-channel.ts';
import type { CallMessage, CallReply } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { Question, RawAnswer } from '../../upstream/protocol/server-request.ts';

/** Rounds of questions one call may take. */
const MAX_ROUNDS = 16;

export interface Relayed {
  routed: Relayable;
  /** Opens the way on which answers come back; absent where the client cannot be asked. */
  openLine: (() => Promise<QuestionLine>) | undefined;
  /** What the client can be asked. */
  capabilities: JsonObject;
  /** JSON text of the final response. */
  toText(response: RawResponse): string;
}

/** Whether a response asks for input instead of giving a result. */
export function asksForInput(response: RawResponse): boolean {
  return response.parsed['resultType'] === 'input_required';
}

/** @throws PorticoError with an `upstream_*` code, after what has been yielded */
export async function* relayTexts(relayed: Relayed): AsyncGenerator<string, void, undefined> {
  let line: QuestionLine | undefined;
  const open = async () => {
    if (!relayed.openLine) throw new PorticoError('upstream_needs_input');
    line ??= await relayed.openLine();
    return line;
  };
  try {
    let reply: CallReply = relayed.routed.reply;
    for (let round = 1; ; round += 1) {
      const response: RawResponse = yield* untilResponse(reply, open);
      if (!relayed.openLine || !asksForInput(response)) {
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
    line?.close();
  }
}

/**
 * The answers of the client as the next round carries them, or the response where it gives none.
 * @throws PorticoError `upstream_needs_input` where that is a failure
 */
async function* answersTo(
  response: RawResponse,
  round: number,
  { routed, capabilities }: Relayed,
  open: () => Promise<QuestionLine>,
): AsyncGenerator<string, RawObject | RawResponse, undefined> {
  try {
    if (round < MAX_ROUNDS) return yield* askAll(response, capabilities, open);
    throw new PorticoError('upstream_needs_input', 'The server never stops asking');
  } catch (thrown) {
    if (!routed.onUnanswered || !(thrown instanceof PorticoError)) throw thrown;
    return routed.onUnanswered();
  }
}

/** Pass on what comes before the response; answers to questions go their own way. */
async function* untilResponse(
  reply: CallReply,
  open: () => Promise<QuestionLine>,
): AsyncGenerator<string, RawResponse, undefined> {
  if ('response' in reply) return reply.response;
  const asked = new Map<Question, string>();
  for await (const message of reply.messages as AsyncIterable<CallMessage>) {
    if (message.kind === 'response') return message;
    if (message.kind === 'notification') {
      yield message.text;
      continue;
    }
    if (message.kind === 'withdrawal') {
      const id = asked.get(message.of);
      if (id !== undefined) yield cancelledText(id, message.params);
      continue;
    }
    const line = await open();
    const { id, text, answer } = line.ask(message.method, message.params);
    asked.set(message, id);
    yield text;
    void passBack(answer, given => message.answer(given));
  }
  throw new PorticoError('upstream_no_response');
}

/** Takes a question back, under the id that it has here and as the server does: with its reason. */
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

/** Params of a question as the legacy era has them: there a page that is to be opened has an id. */
function toLegacyParams(method: string, params: string): string {
  if (method !== 'elicitation/create') return params;
  const members = rawMembers(params);
  if (members.get('mode') !== '"url"' || members.has('elicitationId')) return params;
  const id = JSON.stringify(crypto.randomUUID());
  return fromRawMembers(new Map([...members, ['elicitationId', id]]));
}

/** Ask all that a modern server wants to know. @returns what the next round carries */
async function* askAll(
  response: RawResponse,
  capabilities: JsonObject,
  open: () => Promise<QuestionLine>,
): AsyncGenerator<string, RawObject, undefined> {
  const result = rawMembers('result' in response ? response.result : '{}');
  const requests = [...rawMembers(result.get('inputRequests') ?? '{}')].map(([key, raw]) => {
    const request = rawMembers(raw);
    const method: unknown = JSON.parse(request.get('method') ?? 'null');
    return { key, method: String(method), params: request.get('params') ?? '{}' };
  });
  if (!requests.every(({ method }) => canBeAsked(capabilities, method))) {
    throw new PorticoError('upstream_needs_input');
  }
  const answers: [key: string, answer: Promise<RawAnswer>][] = [];
  for (const { key, method, params } of requests) {
    const line = await open();
    const { text, answer } = line.ask(method, toLegacyParams(method, params));
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

/** What is relayed to a client: the reply of a server, or of the gateway's own tool in its place. */
export type Relayable = Pick<
  RoutedReply,
  'reply' | 'retry' | 'toResult' | 'takesOtherTypes' | 'onReplaced'
> & {
  server: { name: string };
  /** The raw result in place of a server's refusal, which is given parsed; undefined: the refusal stands. */
  toRefusedResult?(error: JsonObject): string | undefined;
  /** The response where the client was asked and gave no answer; absent: that is a failure. */
  onUnanswered?(): Promise<RawResponse>;
};
