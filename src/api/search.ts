/**
 * `POST /api/v1/search`: the tools that best match a query, over all servers (PRD AG-US2); or the same in the form that a host's own tool
 * search must return (`search/tool-references.ts`). Writes nothing.
 */
import { callerViewOf } from './request-context.ts';
import { z } from 'zod';
import {
  MAX_FOUND,
  MAX_NAME_CHARS,
  MAX_QUERY_CHARS,
  MAX_SERVERS,
  USUAL_FOUND,
} from '../search/rank/limits.ts';
import { toAnthropicResult, toOpenaiOutput } from '../search/tool-references.ts';
import { MODEL_NAMING, toCanonicalTool } from '../agents/run-calls.ts';
import type { Format } from '../models/formats/dialect.ts';
import { dialectOf, toDialectNames } from '../models/formats/dialects.ts';
import { DOT_NAMING } from '../gateway/viewer.ts';
import type { SearchHit, SearchRequest } from '../gateway/search.ts';
import { ServerStatusSchema } from '../servers/registry/status.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';

export const SEARCH_PATH = '/api/v1/search';
const short = z.string().max(MAX_NAME_CHARS);

const SearchSchema = z
  .strictObject({
    query: z.string().trim().min(1).max(MAX_QUERY_CHARS).meta({
      description: 'What the tool should do, in your own words',
    }),
    include_external: z.boolean().default(true).meta({
      description: 'All servers are external: false searches none',
    }),
    server_filter: z.array(short).max(MAX_SERVERS).optional().meta({
      description: 'Search only these servers, by name or id; others match nothing',
    }),
    limit: z.number().int().min(1).max(MAX_FOUND).default(USUAL_FOUND),
    skill: short.optional().meta({ description: 'Search only this skill, by id or name' }),
    read_only: z.boolean().default(false).meta({
      description: 'Search only tools that are annotated read-only',
    }),
  })
  .meta({ id: 'Search' });

const HitSchema = z
  .object({
    id: z.string().meta({ description: 'The id of its server, `/`, and its name there' }),
    name: z.string().meta({ description: 'The qualified name: server.tool' }),
    original_name: z.string().meta({ description: 'The name at its server' }),
    description: z.string(),
    score: z.number().min(0).max(1).meta({ description: 'Comparable across queries' }),
    source_server: z.object({ id: z.string(), name: z.string(), status: ServerStatusSchema }),
    skill_ids: z.array(z.string()),
    primary_skill_id: z.string().nullable(),
  })
  .meta({ id: 'SearchHit' });

const FoundSchema = z
  .object({
    query: z.string(),
    tools: z.array(HitSchema).meta({ description: 'The best first' }),
    metadata: z.object({
      servers_searched: z.number().int(),
      total_tools_searched: z.number().int(),
    }),
  })
  .meta({ id: 'SearchResult' });

const DEFINITION = z.looseObject({ name: z.string() });
const AnthropicSchema = z
  .object({
    content: z.array(z.object({ type: z.literal('tool_reference'), tool_name: z.string() })),
    tools: z.array(DEFINITION),
  })
  .meta({ id: 'AnthropicToolReferences' });
const OpenaiSchema = z
  .object({
    type: z.literal('tool_search_output'),
    execution: z.literal('client'),
    status: z.literal('completed'),
    tools: z.array(DEFINITION),
  })
  .meta({ id: 'OpenaiToolSearchOutput' });

const search = createRoute({
  method: 'post',
  path: SEARCH_PATH,
  operationId: 'searchTools',
  tags: ['tools'],
  summary: 'Search for tools',
  description:
    'Of the tools this token may use, those that fit a query best. With `format`, as the content of a tool result with the definitions it ' +
    'refers to (`anthropic`), or as the item that answers a `tool_search_call` (`openai`; its `call_id` is yours to add). Names ' +
    'and schemas are those of `GET /api/v1/tools?format=anthropic` or `openai-responses`.',
  ...needs('tools:read'),
  request: {
    query: z.strictObject({ format: z.enum(['anthropic', 'openai']).optional() }),
    body: bodyOf(SearchSchema, {
      query: 'create a GitHub issue',
      include_external: true,
      server_filter: ['github-mcp', 'jira-mcp'],
      limit: 10,
    }),
  },
  responses: responsesOf(
    200,
    'What was found',
    z.union([FoundSchema, AnthropicSchema, OpenaiSchema]),
    {
      example: {
        query: 'create a GitHub issue',
        tools: [
          {
            id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10/create_issue',
            name: 'github-mcp.create_issue',
            original_name: 'create_issue',
            description: 'Create a new GitHub issue',
            score: 0.95,
            source_server: {
              id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10',
              name: 'github-mcp',
              status: 'CONNECTED',
            },
            skill_ids: ['issue_tracking', 'code_management'],
            primary_skill_id: 'issue_tracking',
          },
        ],
        metadata: { servers_searched: 2, total_tools_searched: 45 },
      },
    },
  ),
});

/** Adds the route. */
export function registerSearch(api: Api, { gateway }: ApiPorts): void {
  api.openapi(search, async context => {
    const body = context.req.valid('json');
    const { format } = context.req.valid('query');
    const naming = format === undefined ? DOT_NAMING : MODEL_NAMING;
    const view = { ...callerViewOf(context.var.snapshot), naming };
    const found = await gateway.search(view, toRequest(body));
    // As `GET /api/v1/tools?format=` does: an API refuses a request with all its tools for one schema, and names are chosen over all tools.
    const toTools = async (dialect: Format) => {
      if (found.hits.length === 0) return [];
      const { items } = await gateway.list(view, 'tools');
      const names = toDialectNames(dialect, items);
      return dialectOf(dialect).toTools(found.hits.map(toCanonicalTool), { strict: false, names })
        .tools;
    };
    if (format === 'anthropic')
      return context.json(toAnthropicResult(await toTools('anthropic')), 200);
    if (format === 'openai')
      return context.json(toOpenaiOutput(await toTools('openai-responses')), 200);
    const metadata = {
      servers_searched: found.serversSearched,
      total_tools_searched: found.toolsSearched,
    };
    return context.json({ query: body.query, tools: found.hits.map(toView), metadata }, 200);
  });
}

function toRequest(body: z.infer<typeof SearchSchema>): SearchRequest {
  const { query, limit, skill, include_external: isAny, read_only: readOnly } = body;
  const servers = isAny ? body.server_filter : [];
  return {
    query,
    limit,
    ...(servers ? { servers } : {}),
    ...(skill === undefined ? {} : { skill }),
    ...(readOnly ? { readOnly } : {}),
  };
}

/** Longest description in a result, in UTF-16 units. */
const MAX_DESCRIPTION_CHARS = 2_000;

/** Four digits keep different scores apart. */
const toShownScore = (score: number) => Math.round(score * 10_000) / 10_000;

function toView({ name, server, item, score, skills }: SearchHit): z.infer<typeof HitSchema> {
  const description: unknown = JSON.parse(item.raw.get('description') ?? '""');
  return {
    id: `${server.id}/${item.key}`,
    name,
    original_name: item.key,
    description: cut(typeof description === 'string' ? description : ''),
    score: toShownScore(score),
    source_server: { id: server.id, name: server.name, status: server.status },
    skill_ids: skills?.skills.map(({ id }) => id) ?? [],
    primary_skill_id: skills?.primary ?? null,
  };
}

/** Cuts a text to its maximum length, without leaving half of a character at the end. */
const cut = (text: string) => text.slice(0, MAX_DESCRIPTION_CHARS).replace(/[\uD800-\uDBFF]$/, '');
