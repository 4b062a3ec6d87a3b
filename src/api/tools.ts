/** `/api/v1/tools`: the tools by server, and calling one (PRD AG-US4, AG-US7). */
import { isReadOnly } from '../servers/catalog/catalog.ts';
import type { Caller } from '../access/policy/caller.ts';
import type { ListedItem, ListedServer } from '../gateway/listing.ts';
import { DOT_NAMING, type VisibleServers } from '../gateway/viewer.ts';
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { ONLOOKER } from '../servers/catalog/conditions.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { ERROR_CODES } from '../shared/errors/table.ts';
import { directiveOfHeader } from '../gateway/cache/cache-control.ts';
import { callTool } from '../gateway/call-tool.ts';
import { pacedResponse } from '../http/paced-body.ts';
import { ServerFailure } from '../gateway/server-failure.ts';
import { withinToolset } from '../gateway/toolset-scope.ts';
import { fromRawMembers, rawMembers } from '../shared/json/json-spans.ts';
import { MAX_NAME_CHARS } from '../shared/util/name-limits.ts';
import { isObject } from '../shared/protocol.ts';
import { ServerStatusSchema } from '../servers/registry/status.ts';
import { skillsOfItem } from '../search/skills/count-tools.ts';
import { SKILL_FIELDS, toSkillFields } from '../search/skills/skill-schema.ts';
import { BODY_ERRORS, needs, responsesOf, type Api, type ApiPorts, bodyOf } from './frame.ts';
import { callContextOf, callerViewOf } from './request-context.ts';
import { ExportedSchema, exportFor, FormatSchema } from './tool-formats.ts';

const tags = ['tools'];

const ToolViewSchema = z
  .looseObject({
    name: z.string().meta({ description: 'The qualified name: server.tool' }),
    original_name: z.string().meta({ description: 'The name at its server' }),
    ...SKILL_FIELDS,
  })
  .meta({ id: 'Tool' });
const ToolsViewSchema = z
  .object({
    servers: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        status: ServerStatusSchema,
        tools: z.array(ToolViewSchema),
      }),
    ),
    total: z.number().int(),
  })
  .meta({ id: 'ToolsByServer' });

const NameSchema = z.string().min(1).max(MAX_NAME_CHARS);

const CallSchema = z
  .union([
    z.strictObject({ name: NameSchema, arguments: z.looseObject({}).optional() }),
    z.strictObject({
      original_name: NameSchema,
      server_id: NameSchema,
      arguments: z.looseObject({}).optional(),
    }),
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

/** What can become of a call once its server is known. */
const UPSTREAM_ERRORS = ERROR_CODES.filter(code => code.startsWith('upstream_'));

const list = createRoute({
  method: 'get',
  path: '/api/v1/tools',
  operationId: 'listTools',
  tags,
  summary: 'List tools by server',
  description:
    'The tools this token may use, each as its server described it; or, with `format`, as the `tools` of a request to a model, their ' +
    'schemas brought down to what its API takes, with a report of all that was changed or removed.',
  ...needs('tools:read'),
  request: {
    query: z.strictObject({
      skill: z.string().max(63).optional().meta({ description: 'Id of a skill: only its tools' }),
      server: z
        .string()
        .max(200)
        .optional()
        .meta({ description: 'Name or id of a server: only its tools' }),
      toolset: z
        .string()
        .max(200)
        .optional()
        .meta({ description: 'Name of a toolset: only the tools it selects, by their own names' }),
      format: FormatSchema.optional(),
      strict: z.enum(['true', 'false']).optional().meta({
        description: 'With `format`: the model is to be held to the schemas, where that can be',
      }),
      losses: z.enum(['summary', 'all']).optional().meta({
        description:
          'With `format`: a line for each kind of loss of a tool (default), or for each place',
      }),
    }),
  },
  responses: responsesOf(
    200,
    'Servers with their tools',
    z.union([ToolsViewSchema, ExportedSchema]),
    {
      errors: ['forbidden', 'validation_failed'],
      example: {
        servers: [
          {
            id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10',
            name: 'github',
            status: 'CONNECTED',
            tools: [
              {
                name: 'github.create_issue',
                original_name: 'create_issue',
                description: 'Create an issue',
                inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
                skill_ids: ['issue_tracking', 'code_management'],
                primary_skill_id: 'issue_tracking',
                is_classified: true,
              },
            ],
          },
        ],
        total: 1,
      },
    },
  ),
});

const call = createRoute({
  method: 'post',
  path: '/api/v1/tools/call',
  operationId: 'callTool',
  tags,
  summary: 'Call a tool',
  description: 'By its qualified name, or by its own name and the id of its server.',
  ...needs('tools:call'),
  request: {
    body: bodyOf(CallSchema, { name: 'github.create_issue', arguments: { title: 'It rains in' } }),
  },
  responses: responsesOf(200, 'The result as the server gave it, and metadata', CallViewSchema, {
    errors: [
      ...BODY_ERRORS,
      'forbidden',
      'tool_not_found',
      'tool_name_unprefixed',
      'invalid_params',
      'server_disconnected',
      'call_gone',
      'rate_limited',
      'too_many_calls',
      'busy',
      ...UPSTREAM_ERRORS,
    ],
    example: {
      content: [{ type: 'text', text: 'Created #123' }],
      isError: false,
      metadata: { routed_to: 'github', routing_time_ms: 1.2, execution_time_ms: 310.5 },
    },
  }),
});

/** Whether a toolset selects a tool; without one all are. @throws PorticoError where there is none of the name, or it is not the caller's */
function toSelection(
  { policy }: Caller,
  servers: VisibleServers['servers'],
  name: string | undefined,
): (tool: ListedItem) => boolean {
  if (name === undefined) return () => true;
  const toolset = policy.toolset(name);
  if (!toolset) throw fieldProblem('toolset', 'there is no such toolset');
  const { views } = withinToolset(toolset, { servers });
  return ({ server, item }) => views.get(server.id)?.tool(item.key, isReadOnly(item)) === true;
}

const ownNaming = (serverId: string) => ({ kind: 'own', serverId }) as const;

/** Add the routes. */
export function registerTools(api: Api, { gateway, skillsOf }: ApiPorts): void {
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const { skill, server: only, toolset, format, strict, losses } = context.req.valid('query');
    const isSelected = toSelection(caller, servers, toolset);
    const view = callerViewOf(context.var.snapshot);
    const seen = await gateway.visible({ ...view, naming: DOT_NAMING });
    const known = await skillsOf(seen.servers);
    const isNamed = ({ id, name }: ListedServer) => only === undefined || [id, name].includes(only);
    const hasSkill = (tool: ListedItem) =>
      skill === undefined || skillsOfItem(tool, known)?.skills.some(({ id }) => id === skill);
    const isWanted = (tool: ListedItem) =>
      isNamed(tool.server) && hasSkill(tool) === true && isSelected(tool);
    if (format !== undefined) {
      const allWarnings = losses === 'all';
      const ask = { format, strict: strict === 'true', allWarnings, isWanted };
      return context.json(await exportFor(gateway, view, ask), 200);
    }
    const viewer = { caller, visible: { servers, client: ONLOOKER }, naming: DOT_NAMING };
    const { items } = await gateway.list(viewer, 'tools');
    const tools = items.filter(isWanted);
    const ofServer = Map.groupBy(tools, tool => tool.server.id);
    const byServer = seen.servers.filter(isNamed).map(server => ({
      id: server.id,
      name: server.name,
      status: server.status,
      tools: (ofServer.get(server.id) ?? []).map(tool => ({
        ...(JSON.parse(fromRawMembers(tool.item.raw)) as object),
        name: tool.name,
        original_name: tool.item.key,
        ...toSkillFields(skillsOfItem(tool, known)),
      })),
    }));
    return context.json({ servers: byServer, total: tools.length }, 200);
  });

  api.openapi(call, async context => {
    const startedAt = performance.now();
    const input = context.req.valid('json');
    const isOwn = 'original_name' in input;
    const body = rawMembers(await context.req.text());
    const naming = isOwn ? ownNaming(input.server_id) : DOT_NAMING;
    let dispatchedAt = performance.now();
    try {
      const { server, response } = await callTool(gateway, {
        viewer: { ...callerViewOf(context.var.snapshot), naming },
        name: isOwn ? input.original_name : input.name,
        args: body.get('arguments') ?? '{}',
        source: 'rest',
        cache: directiveOfHeader(context.req.header('cache-control')),
        context: {
          ...callContextOf(context),
          onDispatch: () => (dispatchedAt = performance.now()),
        },
      });
      if (!response) {
        throw new PorticoError('upstream_needs_input', `${server.name} asks for input`);
      }
      if ('error' in response) throw upstreamError(response.parsed);
      const metadata = {
        routed_to: server.name,
        routing_time_ms: round(dispatchedAt - startedAt),
        execution_time_ms: round(performance.now() - dispatchedAt),
      };
      const members = rawMembers(response.result);
      if (!members.has('content')) members.set('content', '[]');
      if (!members.has('isError')) members.set('isError', 'false');
      members.set('metadata', JSON.stringify(metadata));
      const headers = { 'content-type': 'application/json' };
      return pacedResponse([fromRawMembers(members)], { headers }, context.var.bytes);
    } catch (thrown) {
      if (!(thrown instanceof ServerFailure)) throw thrown;
      const { server, reason } = thrown;
      throw new PorticoError(reason.code, `${server.name}: ${reason.message}`, reason.extras);
    }
  });
}

/** A JSON-RPC error of an upstream as a problem: its code and message stay readable. */
function upstreamError(error: Record<string, unknown>): PorticoError {
  const { code, message, data } = error;
  return new PorticoError('upstream_4xx', `${String(message)} (${String(code)})`, {
    data: { code, ...(isObject(data) ? { data } : {}) },
  });
}

const round = (milliseconds: number) => Math.round(milliseconds * 100) / 100;
