/** Chats in the API: what it accepts and shows. */
import { z } from 'zod';
import { MAX_NAME_CHARS, MAX_SERVERS } from '../../search/rank/limits.ts';
import { APPROVALS } from './chat-settings.ts';
import { CALL_DECISIONS, STOP_REASONS } from './chat-state.ts';

/** Longest message, in UTF-16 units. */
export const MAX_MESSAGE_CHARS = 100_000;
/** Most decisions of one request. */
const MAX_DECISIONS = 1_000;

const message = z
  .string()
  .trim()
  .min(1)
  .max(MAX_MESSAGE_CHARS)
  .meta({ description: 'The message to the model' });
const bound = (description: string) => z.number().int().min(1).optional().meta({ description });

export const LimitsSchema = z
  .strictObject({
    steps: bound('Requests to the model'),
    calls: bound('Tool calls'),
    tokens: bound('Tokens of all requests to the model and their answers'),
    seconds: bound('Seconds of active work'),
    cost_usd: z
      .number()
      .positive()
      .optional()
      .meta({ description: 'US dollars; only if the deployment sets prices' }),
  })
  .meta({ id: 'ChatLimits', description: 'Each may be lower than what the deployment allows' });
export type RequestedLimits = z.infer<typeof LimitsSchema>;

const stream = z
  .boolean()
  .default(false)
  .meta({ description: 'Answer with events, as with `Accept: text/event-stream`' });

/** Body of `POST /api/v1/chat`. */
export const BeginChatSchema = z
  .strictObject({
    message,
    tools: z
      .strictObject({
        servers: z.array(z.string().max(MAX_NAME_CHARS)).max(MAX_SERVERS).optional().meta({
          description: 'Only tools of these servers, by name or id; others match nothing',
        }),
        toolset: z
          .string()
          .max(MAX_NAME_CHARS)
          .optional()
          .meta({ description: 'Name of a toolset' }),
      })
      .default({})
      .meta({ description: 'Which tools the model may use' }),
    approve: z.enum(APPROVALS).optional().meta({
      description:
        'When a person must approve a call: for tools that are not annotated read-only (`writes`), for all tools, or never; not less strict than the deployment',
    }),
    limits: LimitsSchema.default({}),
    stream,
  })
  .meta({ id: 'BeginChat' });
export type BeginChat = z.infer<typeof BeginChatSchema>;

/** Body of `POST /api/v1/chat/{id}`. */
export const ContinueChatSchema = z
  .strictObject({
    message: message.optional(),
    decisions: z
      .array(z.strictObject({ call_id: z.string().max(MAX_NAME_CHARS), approve: z.boolean() }))
      .max(MAX_DECISIONS)
      .default([])
      .meta({ description: 'Decisions about calls that wait' }),
    limits: LimitsSchema.optional(),
    stream,
  })
  .meta({ id: 'ContinueChat' });
export type ContinueChat = z.infer<typeof ContinueChatSchema>;

export const CallViewSchema = z
  .object({
    id: z.string(),
    name: z
      .string()
      .meta({ description: 'server.tool, or what the model wrote if there is no such tool' }),
    arguments: z.looseObject({}).nullable(),
    decision: z.enum(CALL_DECISIONS).meta({
      description:
        '`not_made`: the turn of the model was cut, filtered or broken off, so none of its calls was made',
    }),
    is_error: z.boolean().nullable(),
    is_unknown: z.literal(true).optional().meta({
      description: 'It was sent, but its outcome is not known; it is never sent again',
    }),
  })
  .meta({ id: 'ChatCall' });

export const ChatViewSchema = z
  .object({
    id: z.string(),
    status: z.enum(['running', 'waiting', 'idle']),
    answer: z.string(),
    stop_reason: z.enum(STOP_REASONS).nullable(),
    problem: z.string().optional(),
    steps: z.number().int(),
    calls: z.array(CallViewSchema),
    usage: z.object({
      input_tokens: z.number().int(),
      output_tokens: z.number().int(),
      cost_usd: z.number().nullable(),
    }),
    pending: z.array(CallViewSchema).optional().meta({
      description: 'Calls that wait for a decision',
    }),
    trace_id: z.string().optional().meta({ description: 'Trace id of the run that just ended' }),
  })
  .meta({
    id: 'Chat',
    description: 'State of a chat; counts and calls are those of its last run',
  });
