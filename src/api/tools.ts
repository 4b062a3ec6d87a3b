/** `/api/v1/tools`: the tools by server (PRD AG-US4). */
import { isReadOnly } from '../servers/catalog/catalog.ts';
import type { Caller } from '../access/policy/caller.ts';
import type { ListedItem, ListedServer } from '../gateway/listing.ts';
import { DOT_NAMING, type VisibleServers } from '../gateway/viewer.ts';
import { z } from 'zod';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { ONLOOKER } from '../servers/catalog/conditions.ts';
import { withinToolset } from '../gateway/toolset-scope.ts';
import { fromRawMembers } from '../shared/json/json-spans.ts';
import { toQualifiedName } from '../shared/naming/qualified-name.ts';
import { MAX_NAME_CHARS } from '../shared/util/name-limits.ts';
import { ServerStatusSchema } from '../servers/registry/status.ts';
import { skillsOfItem } from '../search/skills/count-tools.ts';
import { SKILL_FIELDS, toSkillFields } from '../search/skills/skill-schema.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageQuery, positionOf } from './paging.ts';
import { callerViewOf } from './request-context.ts';
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
    next_cursor: z.string().optional().meta({ description: 'Present if there are more' }),
    total: z.number().int().meta({ description: 'How many match' }),
  })
  .meta({ id: 'ToolsByServer' });

/** Qualified name of a page's last tool, and its index. If the tool is gone, the next tool has that index by then. */
const PositionSchema = z.tuple([z.string(), z.number().int().min(0)]);

const list = createRoute({
  method: 'get',
  path: '/api/v1/tools',
  operationId: 'listTools',
  tags,
  summary: 'List tools by server',
  description:
    'The tools this token may use, each as its server described it; or, with `format`, as the `tools` of a request to a model, their ' +
    'schemas reduced to what its API accepts, with a report of all that was changed or removed.',
  ...needs('tools:read'),
  request: {
    query: z.strictObject({
      tool: z.string().max(MAX_NAME_CHARS).optional().meta({
        description: 'Qualified name: only this tool',
      }),
      limit: pageQuery.limit.unwrap().optional().meta({
        description: 'Most tools on one page; if absent, all come at once. Not with `format`',
      }),
      cursor: pageQuery.cursor,
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

/**
 * Returns whether a toolset selects a tool; without a toolset, all are selected. @throws PorticoError if the caller has no toolset of this
 * name
 */
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

/** Whether a tool has this qualified name, or this one in a format, where `.` cannot be part of a name. */
const isCalled = ({ name, server, item }: ListedItem, exactly: string): boolean =>
  exactly === name || exactly === toQualifiedName(server.name, item.key, 'dot');

interface Paging {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** Returns a page of the wanted tools, or all of them if there is no limit. @param query all other members are the filter */
async function pageOfTools(
  wanted: readonly ListedItem[],
  { limit = Infinity, cursor, ...filter }: Paging,
): Promise<{ tools: readonly ListedItem[]; next: { next_cursor?: string } }> {
  const bound = ['tools', filter];
  const position = await positionOf(bound, cursor, PositionSchema);
  const start = position === undefined ? 0 : startAfter(wanted, ...position);
  const tools = wanted.slice(start, start + limit);
  const last = tools.at(-1);
  const hasMore = last !== undefined && start + limit < wanted.length;
  const next = await nextOf(bound, hasMore ? [last.name, start + limit - 1] : undefined);
  return { tools, next };
}

/** Returns the index at which the page after a tool begins. */
function startAfter(wanted: readonly ListedItem[], name: string, at: number): number {
  const index = wanted.findIndex(tool => tool.name === name);
  return index === -1 ? at : index + 1;
}

/** Adds the routes. */
export function registerTools(api: Api, { gateway, skillsOf }: ApiPorts): void {
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const query = context.req.valid('query');
    const { skill, server: only, tool: exactly, toolset, format, strict, losses } = query;
    const isSelected = toSelection(caller, servers, toolset);
    const view = callerViewOf(context.var.snapshot);
    const seen = await gateway.visible({ ...view, naming: DOT_NAMING });
    const known = await skillsOf(seen.servers);
    const isNamed = ({ id, name }: ListedServer) => only === undefined || [id, name].includes(only);
    const hasSkill = (tool: ListedItem) =>
      skill === undefined || skillsOfItem(tool, known)?.skills.some(({ id }) => id === skill);
    const isWanted = (tool: ListedItem) =>
      (exactly === undefined || isCalled(tool, exactly)) &&
      isNamed(tool.server) &&
      hasSkill(tool) === true &&
      isSelected(tool);
    if (format !== undefined) {
      const allWarnings = losses === 'all';
      const ask = { format, strict: strict === 'true', allWarnings, isWanted };
      return context.json(await exportFor(gateway, view, ask), 200);
    }
    const viewer = { caller, visible: { servers, client: ONLOOKER }, naming: DOT_NAMING };
    const { items } = await gateway.list(viewer, 'tools');
    const wanted = items.filter(isWanted);
    const { tools, next } = await pageOfTools(wanted, query);
    const ofServer = Map.groupBy(tools, tool => tool.server.id);
    // Without paging, servers without tools are listed too.
    const isOnPage = ({ id }: ListedServer) => query.limit === undefined || ofServer.has(id);
    const shown = seen.servers.filter(server => isNamed(server) && isOnPage(server));
    const byServer = shown.map(server => ({
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
    const page = { servers: byServer, ...next, total: wanted.length };
    return context.json(page, 200);
  });
}
