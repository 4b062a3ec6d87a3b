/** `POST /api/v1/tools/call`: calls one tool (PRD AG-US4, AG-US7) and returns the whole result, or a stream of events. */
import { z } from 'zod';
import { directiveOfHeader } from '../gateway/cache/cache-control.ts';
import { callTool } from '../gateway/call-tool.ts';
import { DOT_NAMING } from '../gateway/viewer.ts';
import { pacedResponse } from '../http/paced-body.ts';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { ERROR_CODES } from '../shared/errors/table.ts';
import { fromRawMembers, rawMembers } from '../shared/json/json-spans.ts';
import { isObject } from '../shared/protocol.ts';
import { MAX_NAME_CHARS } from '../shared/util/name-limits.ts';
import type { RawResponse } from '../upstream/protocol/message.ts';
import { wantsEvents } from './event-stream.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { callContextOf, callerViewOf } from './request-context.ts';
import { named, streamCall } from './tool-stream.ts';

const NameSchema = z.string().min(1).max(MAX_NAME_CHARS);
/** Maximum length of a sealed request state; a server's own state is smaller. */
const MAX_STATE_CHARS = 1_000_000;

const given = {
  arguments: z.looseObject({}).optional(),
  input_responses: z.looseObject({}).optional().meta({
    description: 'Answers to the `input_requests` of the event before, by their keys; streams only',
  }),
  request_state: z
    .string()
    .max(MAX_STATE_CHARS)
    .optional()
    .meta({ description: '`request_state` of that event; streams only' }),
};
const CallSchema = z
  .union([
    z.strictObject({ name: NameSchema, server_id: NameSchema.optional(), ...given }),
    z.strictObject({ original_name: NameSchema, server_id: NameSchema, ...given }),
  ])
  .meta({ id: 'ToolCall' });

const CallViewSchema = z
  .looseObject({
    content: z.array(z.unknown()),
    isError: z.boolean(),
    metadata: z.object({
      routed_to: z.string(),
      routing_time_ms: z.number(),
      execution_time_ms: z.number(),
    }),
  })
  .meta({ id: 'ToolResult' });

/** Errors of a call whose server is known. */
const UPSTREAM_ERRORS = ERROR_CODES.filter(code => code.startsWith('upstream_'));

const call = createRoute({
  method: 'post',
  path: '/api/v1/tools/call',
  operationId: 'callTool',
  tags: ['tools'],
  summary: 'Call a tool',
  description:
    'By its qualified name, or by its own name (`name` or `original_name`) and the id of its server. With `Accept: text/event-stream` the answer is a stream of ' +
    'events: `progress` and `log` as the server sends them, and in the end `result`, or `error` with a problem. If the server asks for ' +
    'input, the end is `input_required` with `input_requests` and `request_state`: send the same call again, with that state and ' +
    '`input_responses`, to continue it.',
  ...needs('tools:call'),
  request: {
    body: bodyOf(CallSchema, { name: 'github.create_issue', arguments: { title: 'It rains in' } }),
  },
  errors: [
    'tool_not_found',
    'tool_name_unprefixed',
    'invalid_params',
    'server_disconnected',
    'call_gone',
    'rate_limited',
    'budget_reached',
    'too_many_calls',
    ...UPSTREAM_ERRORS,
  ],
  responses: responsesOf(
    200,
    'The result as the server returned it, and metadata',
    CallViewSchema,
    {
      example: {
        content: [{ type: 'text', text: 'Created #123' }],
        isError: false,
        metadata: { routed_to: 'github', routing_time_ms: 1.2, execution_time_ms: 310.5 },
      },
      events: 'event: progress\ndata: {"progress":1,"total":2}\n\n',
    },
  ),
});

const ownNaming = (serverId: string) => ({ kind: 'own', serverId }) as const;

/** Adds the route. */
export function registerToolCall(api: Api, { gateway }: ApiPorts): void {
  api.openapi(call, async context => {
    const clock = startClock();
    const input = context.req.valid('json');
    const naming = input.server_id === undefined ? DOT_NAMING : ownNaming(input.server_id);
    const body = rawMembers(await context.req.text());
    const toolCall = {
      viewer: { ...callerViewOf(context.var.snapshot), naming },
      name: 'original_name' in input ? input.original_name : input.name,
      args: body.get('arguments') ?? '{}',
      source: 'rest',
      cache: directiveOfHeader(context.req.header('cache-control')),
      context: { ...callContextOf(context), onDispatch: clock.dispatched },
    } as const;
    if (wantsEvents(context.req.header('accept'))) {
      const round = [body.get('input_responses'), body.get('request_state')] as const;
      const toView = (name: string, response: RawResponse) =>
        fromRawMembers(toMembers(response, clock.metadata(name)));
      return streamCall(gateway, toolCall, round, toView) as never;
    }
    if (input.request_state !== undefined || input.input_responses !== undefined) {
      throw fieldProblem('request_state', 'goes with `Accept: text/event-stream`');
    }
    const { server, response } = await callTool(gateway, toolCall).catch(named);
    if (!response) {
      throw new PorticoError('upstream_needs_input', `${server.name} asks for input`);
    }
    const text = fromRawMembers(toMembers(response, clock.metadata(server.name)));
    const headers = { 'content-type': 'application/json' };
    return pacedResponse([text], { headers }, context.var.bytes);
  });
}

/** Measures the time until a request left, and the time since. */
function startClock() {
  const startedAt = performance.now();
  let dispatchedAt = startedAt;
  const round = (milliseconds: number) => Math.round(milliseconds * 100) / 100;
  return {
    dispatched: () => void (dispatchedAt = performance.now()),
    metadata: (server: string) => ({
      routed_to: server,
      routing_time_ms: round(dispatchedAt - startedAt),
      execution_time_ms: round(performance.now() - dispatchedAt),
    }),
  };
}

/** Returns the server's result with required members that it lacks, and metadata. @throws PorticoError if it is an error */
function toMembers(response: RawResponse, metadata: object) {
  if ('error' in response) throw upstreamError(response.parsed);
  const members = rawMembers(response.result);
  if (!members.has('content')) members.set('content', '[]');
  if (!members.has('isError')) members.set('isError', 'false');
  return members.set('metadata', JSON.stringify(metadata));
}

/** Turns an upstream's JSON-RPC error into a problem that keeps its code and message readable. */
function upstreamError(error: Record<string, unknown>): PorticoError {
  const { code, message, data } = error;
  return new PorticoError('upstream_4xx', `${String(message)} (${String(code)})`, {
    data: { code, ...(isObject(data) ? { data } : {}) },
  });
}
