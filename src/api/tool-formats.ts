/**
 * Exports tools in the format of a model API and executes the calls that the model made (LLM-1, LLM-2), for agents that do not speak MCP.
 * Both are limited to what the token may see and call.
 */
import type { ListedItem } from '../gateway/listing.ts';
import type { CallerView, Viewer } from '../gateway/viewer.ts';
import { z } from 'zod';
import { requireScope } from '../shared/identity/principal.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { FORMATS, FormatError, type Dialect, type Format } from '../models/formats/dialect.ts';
import { dialectOf, toDialectNames } from '../models/formats/dialects.ts';
import { summarise } from '../models/formats/warning-summary.ts';
import { UNFINISHED, type CanonicalCall } from '../models/formats/canonical-form.ts';
import { isFailed } from '../models/formats/result-parts.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { MODEL_NAMING, runCalls, toCanonicalTool } from '../agents/run-calls.ts';
import { traceCalls } from '../agents/traced-calls.ts';
import type { JsonObject } from '../shared/protocol.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { callContextOf, callerViewOf, deferOf, parentOf } from './request-context.ts';

const EXECUTE_PATH = '/api/v1/tools/execute';

export const FormatSchema = z.enum(FORMATS).meta({
  description:
    'The API of the model: OpenAI Chat Completions or Responses, Anthropic Messages, Gemini',
});

const WarningSchema = z
  .object({
    tool: z.string(),
    path: z.string().meta({ description: 'JSON pointer into the definition of the tool' }),
    kind: z.enum(['removed', 'changed']),
    detail: z.string(),
    count: z.int().meta({
      description: 'Number of places in the tool; path and detail are those of the first',
    }),
  })
  .meta({ id: 'FormatLoss' });

export const ExportedSchema = z
  .object({
    format: FormatSchema,
    tools: z
      .array(z.looseObject({}))
      .meta({ description: 'The value of `tools` in a request to the model' }),
    names: z
      .record(z.string(), z.string())
      .meta({ description: 'Maps each name in `tools` to the name at the gateway' }),
    losses: z
      .array(WarningSchema)
      .meta({ description: 'What was removed or changed because the format cannot express it' }),
  })
  .meta({ id: 'ExportedTools' });

const ExecuteSchema = z
  .strictObject({
    format: FormatSchema,
    strict: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether the tools were exported with `strict`' }),
    calls: z
      .array(z.looseObject({}))
      .optional()
      .meta({ description: 'The calls of the model, as in its answer' }),
    message: z.looseObject({}).optional().meta({ description: 'The message that contains them' }),
    response: z.looseObject({}).optional().meta({ description: 'The whole answer of the API' }),
  })
  .refine(
    ({ calls, message, response }) =>
      [calls, message, response].filter(each => each !== undefined).length === 1,
    'Give one of calls, message and response',
  )
  .meta({ id: 'ExecuteCalls' });

const ExecutedSchema = z
  .object({
    results: z
      .array(
        z.object({
          id: z.string(),
          name: z.string().meta({ description: 'As the model called it' }),
          tool: z.string().nullable().meta({ description: 'The name at the gateway' }),
          is_error: z.boolean(),
          not_made: z.enum(UNFINISHED).optional().meta({
            description:
              'Why the call was not made: the answer that contains it was cut (`length`), was refused or filtered (`refused`), or is incomplete (`interrupted`)',
          }),
          result: z.looseObject({}).meta({ description: 'The MCP result, cut to a maximum size' }),
        }),
      )
      .meta({ description: 'In the order of the calls' }),
    messages: z
      .array(z.looseObject({}))
      .meta({ description: 'To be appended to the conversation, after the answer of the model' }),
  })
  .meta({ id: 'ExecutedCalls' });

const execute = createRoute({
  method: 'post',
  path: EXECUTE_PATH,
  operationId: 'executeToolCalls',
  tags: ['tools'],
  summary: "Execute a model's tool calls",
  description:
    'The calls in an answer of a model whose `tools` were exported by `GET /api/v1/tools?format=`, executed in parallel. A call that ' +
    'fails, or that cannot be read, has a result that says what to correct; the others are executed all the same. Give `response` if ' +
    'you can: it says how the answer ended, and calls of an answer that was cut or filtered are not made. `message` and `calls` do not ' +
    'say how the answer ended: there a call with empty arguments is not made. The token needs `tools:read` as well.',
  ...needs('tools:call'),
  request: {
    body: bodyOf(ExecuteSchema, {
      format: 'openai-chat',
      calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'github__create_issue', arguments: '{"title":"It rains in"}' },
        },
      ],
    }),
  },
  responses: responsesOf(
    200,
    'A result for each call, and the messages for the conversation',
    ExecutedSchema,
    {
      example: {
        results: [
          {
            id: 'call_1',
            name: 'github__create_issue',
            tool: 'github__create_issue',
            is_error: false,
            result: { content: [{ type: 'text', text: 'Created #123' }] },
          },
        ],
        messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'Created #123' }],
      },
    },
  ),
});

export interface ExportOptions {
  format: Format;
  strict: boolean;
  /** Report each conversion warning separately. */
  allWarnings: boolean;
  isWanted(tool: ListedItem): boolean;
}

/** Exports the tools that a caller sees in a format. Names are chosen over all of them, even if only some are wanted. */
export async function exportFor(
  gateway: Gateway,
  view: CallerView,
  { format, strict, allWarnings, isWanted }: ExportOptions,
): Promise<z.infer<typeof ExportedSchema>> {
  const { items } = await gateway.list({ ...view, naming: MODEL_NAMING }, 'tools');
  const names = toDialectNames(format, items);
  const wanted = items.filter(isWanted).map(toCanonicalTool);
  const exported = dialectOf(format).toTools(wanted, { strict, names });
  return {
    format,
    tools: [...exported.tools],
    names: Object.fromEntries(exported.names),
    losses: allWarnings
      ? exported.warnings.map(warning => ({ ...warning, count: 1 }))
      : summarise(exported.warnings),
  };
}

/** Adds the route. */
export function registerToolFormats(api: Api, { gateway, tracer }: ApiPorts): void {
  api.openapi(execute, async context => {
    const { format, strict, calls: listed, message, response } = context.req.valid('json');
    const viewer = { ...callerViewOf(context.var.snapshot), naming: MODEL_NAMING };
    const dialect = dialectOf(format);
    const calls = readCalls(dialect, listed ?? message ?? response);
    const items = await listCallable(gateway, viewer, deferOf(context));
    const names = toDialectNames(format, items);
    const tools = new Map(items.map(item => [names.get(item.name) ?? item.name, item]));
    const called = new Set(calls.flatMap(({ name }) => tools.get(name) ?? []));
    const exported = dialect.toTools([...called].map(toCanonicalTool), { strict, names });
    const callContext = callContextOf(context);
    const facts = { format, calls: calls.length };
    const parent = parentOf(context);
    const span = tracer.start('execute', facts, callContext.waitUntil, parent);
    const to = {
      gateway,
      viewer,
      source: 'rest' as const,
      context: callContext,
      tools,
      toArguments: (name: string, given: JsonObject) => exported.toArguments(name, given),
    };
    const watch = traceCalls(span, name => tools.get(name)?.name);
    const results = await runCalls(calls, to, watch).finally(() => span.end());
    const shown = results.map(({ id, name, result }, i) => ({
      id,
      name,
      tool: tools.get(name)?.name ?? null,
      is_error: isFailed(result),
      not_made: calls[i]?.unmade,
      result,
    }));
    return context.json({ results: shown, messages: dialect.toResults(results) }, 200);
  });
}

/** Lists the tools that a caller may call, which are those it sees. Needs both scopes; a refusal is recorded in the audit. */
async function listCallable(
  gateway: Gateway,
  viewer: Viewer,
  waitUntil: WaitUntil,
): Promise<readonly ListedItem[]> {
  try {
    requireScope(viewer.caller, 'tools:call');
    return (await gateway.list(viewer, 'tools')).items;
  } catch (thrown) {
    const refusal = {
      method: 'tools/call',
      subject: EXECUTE_PATH,
      thrown,
      source: 'rest',
    } as const;
    await gateway.refused(viewer.caller, refusal, waitUntil);
    throw thrown;
  }
}

function readCalls(dialect: Dialect, body: unknown): CanonicalCall[] {
  try {
    return dialect.fromCalls(body);
  } catch (thrown) {
    if (!(thrown instanceof FormatError)) throw thrown;
    throw new PorticoError('validation_failed', thrown.message);
  }
}
