/** `/api/v1/toolsets`: create, list, get, edit, delete. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import {
  CreateToolsetSchema,
  ToolsetViewSchema,
  toToolsetView,
  UpdateToolsetSchema,
  type StoredToolset,
} from '../access/toolsets/toolset-schema.ts';
import { parseIfMatch, toETag } from './etag.ts';
import {
  ACT_ERRORS,
  bodyOf,
  BODY_ERRORS,
  ETAG,
  LOCATION,
  needs,
  responsesOf,
  type Api,
  type ApiPorts,
} from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { deleteRoute, getRoute, idOf, updateRoute } from './record-routes.ts';

const PATH = '/api/v1/toolsets';
const tags = ['toolsets'];
const params = idOf('toolset');
const ToolsetSchema = ToolsetViewSchema.meta({ id: 'Toolset' });
const definition = {
  name: 'triage',
  description: 'Reading issues',
  include: ['*.list_*', '*.get_*'],
  exclude: ['*.get_secret*'],
  name_style: 'underscore',
  tools: 'search',
  members: { principals: [], groups: ['support'] },
};
const example = {
  id: '9c0a1b2c-3d4e-4f5a-8b6c-7d8e9f0a1b2c',
  path: '/mcp/toolsets/triage',
  ...definition,
  overrides: [],
  revision: 1,
  created_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:00.000Z',
};

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createToolset',
  tags,
  summary: 'Create a toolset',
  description:
    'Patterns are qualified (`github.create_*`); a server without a tool is all of it. Two tools of one name are refused.',
  ...needs('admin'),
  request: { body: bodyOf(CreateToolsetSchema.meta({ id: 'CreateToolset' }), definition) },
  responses: responsesOf(201, 'The toolset', ToolsetSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS, 'conflict'],
    headers: { ...LOCATION, ...ETAG },
    example,
  }),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listToolsets',
  tags,
  summary: 'List toolsets',
  description: 'In the order of their names, page by page.',
  ...needs('admin'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      name: z.string().min(1).max(63).optional().meta({
        description: 'A part of the name, without regard to case',
      }),
    }),
  },
  responses: responsesOf(200, 'One page', pageOf('toolsets', ToolsetSchema, 'ToolsetPage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { toolsets: [example], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getToolset',
    tags,
    summary: 'Get a toolset',
    ...needs('admin'),
    params,
  },
  { description: 'The toolset', schema: ToolsetSchema, example },
);

const update = updateRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'updateToolset',
    tags,
    summary: 'Edit a toolset',
    description: 'What is absent stays, null clears. A rename moves its URL.',
    ...needs('admin'),
    params,
  },
  {
    schema: UpdateToolsetSchema.meta({ id: 'UpdateToolset' }),
    example: { name_style: null, tools: null },
  },
  {
    description: 'The toolset as it is now',
    schema: ToolsetSchema,
    example: { ...example, name_style: undefined, tools: undefined, revision: 2 },
  },
  ['conflict'],
);

const remove = deleteRoute({
  path: `${PATH}/{id}`,
  operationId: 'deleteToolset',
  tags,
  summary: 'Delete a toolset',
  description: 'A token that is narrowed to it alone is left with nothing.',
  ...needs('admin'),
  params,
});

const etagOf = ({ revision }: StoredToolset) => ({ etag: toETag(revision) });

/** Add the routes. */
export function registerToolsets(api: Api, { toolsets }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller, servers } = context.var.snapshot;
    const toolset = await toolsets.create(caller, context.req.valid('json'), servers);
    const headers = { location: `${PATH}/${toolset.id}`, ...etagOf(toolset) };
    return context.json(toToolsetView(toolset, servers), 201, headers);
  });
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const { limit, cursor, name } = context.req.valid('query');
    const bound = ['toolsets', name];
    const [after] = (await positionOf(bound, cursor, z.tuple([z.string()]))) ?? [];
    const page = await toolsets.list(caller, name, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = page.items.map(toolset => toToolsetView(toolset, servers));
    return context.json({ toolsets: shown, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const { caller, servers } = context.var.snapshot;
    const toolset = await toolsets.get(caller, context.req.valid('param').id);
    return context.json(toToolsetView(toolset, servers), 200, etagOf(toolset));
  });
  api.openapi(update, async context => {
    const { caller, servers } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const patch = context.req.valid('json');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const toolset = await toolsets.update(caller, id, patch, servers, ifRevision);
    return context.json(toToolsetView(toolset, servers), 200, etagOf(toolset));
  });
  api.openapi(remove, async context => {
    await toolsets.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
