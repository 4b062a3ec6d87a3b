/**
 * Answers calls of `chat` on an endpoint that lists it. A chat never reaches more than the endpoint does. Before a call that a person has
 * to allow, the client is asked to fill in a form, in the way of its era. Where the client cannot be asked, or the person decides nothing,
 * the chat waits: the result says so, and the chat can be continued over REST or in the terminal. Steps are sent as progress to clients
 * that ask for it.
 */
import type { RequestContext } from '../request-context.ts';
import type { Relayable } from '../reply/relay-messages.ts';
import { z } from 'zod';
import type { ChatEvent, ChatView } from '../../agents/chat/chat-events.ts';
import { BeginChatSchema, ContinueChatSchema } from '../../agents/chat/chat-schema.ts';
import type { ReadyChat } from '../../agents/chat/chat-service.ts';
import type { ChatCaller } from '../../agents/chat/shown-tools.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { AsyncQueue } from '../../shared/util/async-queue.ts';
import {
  idText,
  IMPLEMENTATION,
  isObject,
  isRequestId,
  type Era,
  type JsonObject,
  type RequestId,
  type RpcRequest,
} from '../../shared/protocol.ts';
import { fillsForms } from '../../shared/client-capabilities.ts';
import type { CallMessages, CallReply } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import { noteFailed } from '../../gateway/steps/observe.ts';
import { toEnding } from '../../telemetry/operation.ts';
import { toDecisions, toInputRequests } from './approval-form.ts';
import { CHAT_NAME } from './chat-tool.ts';
import { ownFailureText, ownResultText, parseOwn, traceparentOf } from './own-tools.ts';

const ArgumentsSchema = z.strictObject({
  message: BeginChatSchema.shape.message,
  chat_id: z.string().min(1).max(100).optional(),
});
/** Errors that a model can read and act on. */
const READABLE: ReadonlySet<string> = new Set([
  'invalid_params',
  'validation_failed',
  'model_missing',
  'not_found',
  'conflict',
  'busy',
  'payload_too_large',
]);
/** Stop reasons of a run that count as failures. */
const FAILED: ReadonlySet<unknown> = new Set([
  'model_failed',
  'model_budget',
  'interrupted',
  'revoked',
  'refused',
]);

/** @throws PorticoError `forbidden`, `rate_limited`, and errors that concern neither the arguments, the chat nor the model */
export async function startChat(
  requestContext: RequestContext,
  request: RpcRequest,
  source: Era,
): Promise<Relayable> {
  const round = new Round(requestContext, request, source);
  return {
    server: IMPLEMENTATION,
    reply: await round.start(request.params ?? {}),
    retry: extra => {
      const members = [...extra].map(([key, raw]) => [key, JSON.parse(raw) as unknown]);
      return round.start(Object.fromEntries(members) as JsonObject);
    },
    onUnanswered: () => round.waiting(),
    onReplaced: code => requestContext.context.operation?.ends(toEnding(code)),
  };
}

/** One `chat` request of a client, through as many rounds of input requests as it takes. */
class Round {
  readonly #requestContext: RequestContext;
  readonly #request: RpcRequest;
  readonly #source: Era;
  readonly #gone = new AbortController();
  /** Id of the chat; empty until it is known. */
  #chatId = '';

  constructor(requestContext: RequestContext, request: RpcRequest, source: Era) {
    this.#requestContext = requestContext;
    this.#request = request;
    this.#source = source;
  }

  /** @param round members of the params that belong to one round: `requestState`, `inputResponses` */
  async start(round: JsonObject): Promise<CallReply> {
    try {
      const ready = await this.#ready(round);
      if (!ready) return { response: await this.waiting() };
      this.#chatId = ready.id;
      return { messages: this.#run(ready) };
    } catch (thrown) {
      noteFailed(this.#requestContext.context, thrown);
      if (!(thrown instanceof PorticoError) || !READABLE.has(thrown.code)) throw thrown;
      return { response: toResponse(ownFailureText(thrown)) };
    }
  }

  /** Responds with the chat that waits for a person. */
  async waiting(): Promise<RawResponse> {
    const { chats } = this.#requestContext;
    return toResponse(toResultText(await chats.get(this.#toChatCaller(), this.#chatId)));
  }

  /** @returns undefined where a person was asked and decided nothing */
  async #ready(round: JsonObject): Promise<ReadyChat | undefined> {
    const { chats } = this.#requestContext;
    const chatCaller = this.#toChatCaller();
    const { requestState: state } = round;
    if (state !== undefined) {
      if (typeof state !== 'string') {
        throw new PorticoError('invalid_params', 'params.requestState must be a string');
      }
      const [chatId = '', ...askedAbout] = state.split(' ');
      this.#chatId = chatId;
      const { pending = [] } = await chats.get(chatCaller, chatId);
      // A repeated answer decides nothing about calls that came after it.
      const asked = pending.filter(({ id }) => askedAbout.includes(id));
      const decisions = toDecisions(round['inputResponses'], asked);
      if (!decisions) return undefined;
      return chats.continue(chatCaller, this.#chatId, ContinueChatSchema.parse({ decisions }));
    }
    const given = parseOwn(CHAT_NAME, ArgumentsSchema, this.#request.params?.['arguments']);
    const { message, chat_id: id } = given;
    if (id !== undefined) {
      return chats.continue(chatCaller, id, ContinueChatSchema.parse({ message }));
    }
    return chats.begin(chatCaller, BeginChatSchema.parse({ message, tools: this.#only() }));
  }

  /** The endpoint's own limits, in the form stored with the chat. */
  #only(): JsonObject {
    const { naming, toolset } = this.#requestContext.viewer;
    if (naming.kind === 'own') return { servers: [naming.serverId] };
    return toolset === undefined ? {} : { toolset };
  }

  #toChatCaller(): ChatCaller {
    const { viewer, context, listening } = this.#requestContext;
    return {
      caller: viewer.caller,
      visible: viewer.visible,
      source: this.#source,
      signal: AbortSignal.any([context.signal, this.#gone.signal]),
      origin: context.origin,
      traceparent: traceparentOf(context, this.#request),
      operation: context.operation,
      waitUntil: work => context.waitUntil(work),
      async rights() {
        try {
          return (await listening.now()).viewer;
        } catch (thrown) {
          if (thrown instanceof PorticoError) return undefined;
          throw thrown;
        }
      },
    };
  }

  /** Starts the run at once, before anybody reads its messages; the run is aborted when their reader leaves. */
  #run(ready: ReadyChat): CallMessages {
    const events = new AsyncQueue<ChatEvent>();
    const onEvent = (event: ChatEvent) => events.put(event);
    const running = ready.run({ onEvent, isStreamed: false }).finally(() => events.end());
    running.catch(() => {});
    return this.#messages(events, running);
  }

  async *#messages(events: AsyncQueue<ChatEvent>, running: Promise<ChatView>): CallMessages {
    const token = progressTokenOf(this.#request);
    let progress = 0;
    let isRunning = true;
    try {
      for (let event = await events.take(); event; event = await events.take()) {
        const message = toProgress(event);
        if (message === undefined || token === undefined) continue;
        progress += 1;
        const method = 'notifications/progress';
        const members = `"progress":${progress},"message":${JSON.stringify(message)}`;
        const params = `{"progressToken":${idText(token)},${members}}`;
        const text = `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
        yield { kind: 'notification', method, text };
      }
      const view = await running;
      isRunning = false;
      yield this.#toResponse(view);
    } finally {
      if (isRunning) this.#gone.abort();
    }
  }

  #toResponse(view: ChatView): RawResponse {
    const { pending = [] } = view;
    if (pending.length === 0 || !this.#canAsk()) return toResponse(toResultText(view));
    const result = {
      resultType: 'input_required',
      inputRequests: toInputRequests(pending),
      requestState: [view.id, ...pending.map(({ id }) => id)].join(' '),
    };
    return toResponse(JSON.stringify(result), { resultType: 'input_required' });
  }

  /** Whether the client can be asked to fill in a form: a legacy client only in a session, on the stream of its call. */
  #canAsk(): boolean {
    const { context, acceptsStream, openChannel } = this.#requestContext;
    if (!fillsForms(context.capabilities)) return false;
    return this.#source === 'modern' || (acceptsStream && openChannel !== undefined);
  }
}

const toResponse = (result: string, parsed: JsonObject = {}): RawResponse => ({
  kind: 'response',
  result,
  parsed,
});

const toResultText = (view: ChatView): string =>
  ownResultText(JSON.stringify(view), FAILED.has(view.stop_reason) || isCut(view));

/** Whether calls were dropped because the model's answer was too long. A cut answer without calls still counts as an answer. */
const isCut = ({ stop_reason: reason, calls }: ChatView): boolean =>
  reason === 'length' && calls.some(({ decision }) => decision === 'not_made');

function progressTokenOf({ params }: RpcRequest): RequestId | undefined {
  const meta = params?.['_meta'];
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return isRequestId(token) ? token : undefined;
}

/** Returns the progress message for an event, one line; undefined where there is none. */
function toProgress(event: ChatEvent): string | undefined {
  if (event.type === 'call' && event.call.decision === 'not_made') {
    return `${event.call.name} was not called: the answer of the model is not whole`;
  }
  if (event.type === 'call') return `calls ${event.call.name}`;
  if (event.type !== 'result') return undefined;
  return `${event.name} ${event.is_error ? 'failed' : 'answered'}`;
}
