/** `/api/v1/chat`: a conversation with the deployment's language model that calls the caller's tools (LLM-3). */
import type { Context } from 'hono';
import { z } from 'zod';
import type { ChatReader, ReadyChat } from '../agents/chat/chat-service.ts';
import { BeginChatSchema, ChatViewSchema, ContinueChatSchema } from '../agents/chat/chat-schema.ts';
import type { ChatCaller } from '../agents/chat/shown-tools.ts';
import type { ChatEvent } from '../agents/chat/chat-events.ts';
import { toEventStream, wantsEvents } from './event-stream.ts';
import { bodyOf, createRoute, needs, responsesOf } from './frame.ts';
import type { Api, ApiEnv, ApiPorts } from './frame.ts';
import { callerViewOf, deferOf, parentOf, snapshotNow } from './request-context.ts';

const PATH = '/api/v1/chat';
const tags = ['chat'];
const NONE = 'No chat of yours has this id';

const call = {
  id: 'call_1',
  name: 'github.search_issues',
  arguments: { query: 'rain' },
  decision: 'allowed',
  is_error: false,
};
const waiting = {
  id: 'call_2',
  name: 'github.create_issue',
  arguments: { title: 'It rains in' },
  decision: 'waiting',
  is_error: null,
};
const exampleChat = {
  id: '5b0c6f5e-2f0b-4f5b-8f0b-8d4f0b7f4a10',
  status: 'waiting',
  answer: 'There is no such issue yet. I open one.',
  stop_reason: 'approval',
  steps: 2,
  calls: [call, waiting],
  usage: { input_tokens: 2_310, output_tokens: 96, cost_usd: null },
  pending: [waiting],
};
const exampleMessage = 'Open an issue about the rain, unless there is one';
const errors = ['model_missing', 'rate_limited', 'not_found', 'conflict'] as const;
const answers = responsesOf(
  200,
  'The state of the chat once it has stopped, or events',
  ChatViewSchema,
  {
    example: exampleChat,
    events: `event: done\ndata: ${JSON.stringify({ type: 'done', chat: exampleChat })}\n\n`,
  },
);
// The service refuses invalid ids, since it must check the scope first.
const params = z.object({ id: z.string().max(100).meta({ description: 'Id of the chat' }) });
const events =
  'With `stream`, or `Accept: text/event-stream`, answers with events: `chat`, `text`, `call`, `result`, `approval`, and `done` with the whole at the end.';

const begin = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'beginChat',
  tags,
  summary: 'Begin a chat',
  description:
    `The model answers a message and may call the tools that this token may use, within limits. Each call is checked, limited and recorded like any other. ${events} ` +
    'If the client disconnects, the chat stops.',
  ...needs('tools:call'),
  request: { body: bodyOf(BeginChatSchema, { message: exampleMessage }) },
  errors,
  responses: answers,
});

const proceed = createRoute({
  method: 'post',
  path: `${PATH}/{id}`,
  operationId: 'continueChat',
  tags,
  summary: 'Continue a chat',
  description:
    'With a message, with decisions about calls that wait, or, without either, where it was stopped. A message refuses the calls that wait, so it cannot come with an approval. A call that was under way when the gateway stopped is not sent again. ' +
    events,
  ...needs('tools:call'),
  request: {
    params,
    body: bodyOf(ContinueChatSchema, { decisions: [{ call_id: 'call_2', approve: true }] }),
  },
  errors,
  responses: answers,
});

const read = createRoute({
  method: 'get',
  path: `${PATH}/{id}`,
  operationId: 'getChat',
  tags,
  summary: 'Get the state of a chat',
  description: 'Only whoever began it sees it.',
  ...needs('tools:call'),
  request: { params },
  responses: responsesOf(200, 'The chat', ChatViewSchema, { example: exampleChat }),
});

const stop = createRoute({
  method: 'post',
  path: `${PATH}/{id}/stop`,
  operationId: 'stopChat',
  tags,
  summary: 'Stop a chat',
  description:
    'A running chat ends soon and its calls are cancelled; what was done is kept. A chat that is not running stays as it is.',
  ...needs('tools:call'),
  request: { params },
  responses: responsesOf(200, 'The chat, which may still be running for a moment', ChatViewSchema, {
    example: exampleChat,
  }),
});

const remove = createRoute({
  method: 'delete',
  path: `${PATH}/{id}`,
  operationId: 'deleteChat',
  tags,
  summary: 'Delete a chat',
  description: `Stops it first if it is running. ${NONE}: 404.`,
  ...needs('tools:call'),
  request: { params },
  responses: responsesOf(204, 'It is deleted'),
});

/** Streams the events of a chat; the last event holds the whole chat. If the client goes away the run stops, and what was done is kept. */
const toChatStream = (chat: ReadyChat, onGone: () => void): Response =>
  toEventStream({
    onGone,
    async run(send) {
      send('chat', JSON.stringify({ type: 'chat', id: chat.id }));
      const onEvent = (event: ChatEvent) => send(event.type, JSON.stringify(event));
      await chat.run({ onEvent, isStreamed: true });
    },
  });

const toReader = (context: Context<ApiEnv>): ChatReader => ({
  caller: context.var.snapshot.caller,
  waitUntil: deferOf(context),
});

/** Adds the routes. */
export function registerChat(api: Api, { chats, snapshots }: ApiPorts): void {
  const toChatCaller = (context: Context<ApiEnv>, signal: AbortSignal): ChatCaller => {
    return {
      ...callerViewOf(context.var.snapshot),
      source: 'rest',
      signal,
      origin: new URL(context.req.url).origin,
      traceparent: parentOf(context),
      operation: context.env.operation,
      waitUntil: deferOf(context),
      async rights() {
        const now = await snapshotNow(context, snapshots);
        return now && callerViewOf(now);
      },
    };
  };

  async function answer(
    context: Context<ApiEnv>,
    isStream: boolean,
    start: (chatCaller: ChatCaller) => Promise<ReadyChat>,
  ): Promise<Response> {
    const gone = new AbortController();
    const signal = AbortSignal.any([context.req.raw.signal, gone.signal]);
    const chat = await start(toChatCaller(context, signal));
    if (isStream || wantsEvents(context.req.header('accept'))) {
      return toChatStream(chat, () => gone.abort());
    }
    const view = await chat.run({ onEvent: () => {}, isStreamed: false });
    return context.json(view, 200);
  }

  api.openapi(begin, async context => {
    const input = context.req.valid('json');
    return answer(context, input.stream, chatCaller => chats.begin(chatCaller, input)) as never;
  });
  api.openapi(proceed, async context => {
    const input = context.req.valid('json');
    const { id } = context.req.valid('param');
    return answer(context, input.stream, chatCaller =>
      chats.continue(chatCaller, id, input),
    ) as never;
  });
  api.openapi(read, async context => {
    const { id } = context.req.valid('param');
    return context.json(await chats.get(toReader(context), id), 200);
  });
  api.openapi(stop, async context => {
    const { id } = context.req.valid('param');
    return context.json(await chats.stop(toReader(context), id), 200);
  });
  api.openapi(remove, async context => {
    const { id } = context.req.valid('param');
    await chats.delete(toReader(context), id);
    return context.body(null, 204);
  });
}
