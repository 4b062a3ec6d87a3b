/** `/api/v1/aggregator/servers`: register, read, edit, connect, disconnect, delete (PRD AG-US1, AG-US6). */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { ShownServerSchema } from '../servers/health/health-schema.ts';
import {
  RegistrationSchema,
  TransportTypeSchema,
  UpdateServerSchema,
  type Server,
} from '../servers/registry/server-schema.ts';
import { ServerStatusSchema } from '../servers/registry/status.ts';
import { parseIfMatch, toETag } from './etag.ts';
import {
  ACT_ERRORS,
  BODY_ERRORS,
  ETAG,
  LOCATION,
  needs,
  responsesOf,
  type Api,
  type ApiPorts,
  bodyOf,
} from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { exampleServer } from './server-examples.ts';
import { deleteRoute, getRoute, idOf, updateRoute } from './record-routes.ts';
import { wholeText } from './whole-text.ts';

const PATH = '/api/v1/aggregator/servers';
const tags = ['servers'];
const params = idOf('server');
const ServerSchema = ShownServerSchema.meta({ id: 'Server' });

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createServer',
  tags,
  summary: 'Register a server',
  description: 'Discovery runs in the background if `auto_connect` is set.',
  ...needs('servers:write'),
  request: {
    body: bodyOf(RegistrationSchema.meta({ id: 'CreateServer' }), exampleServer.created),
  },
  responses: responsesOf(201, 'The record', ServerSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS, 'conflict'],
    headers: { ...LOCATION, ...ETAG },
    example: exampleServer.record,
  }),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listServers',
  tags,
  summary: 'List servers',
  description: 'In the order of their names, page by page.',
  ...needs('servers:read'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      status: ServerStatusSchema.optional(),
      transport_type: TransportTypeSchema.optional(),
      name: z.string().min(1).max(63).optional().meta({
        description: 'A part of the name, without regard to case',
      }),
    }),
  },
  responses: responsesOf(200, 'One page', pageOf('servers', ServerSchema, 'ServerPage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { servers: [exampleServer.record], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getServer',
    tags,
    summary: 'Get a server',
    ...needs('servers:read'),
    params,
  },
  { description: 'The record', schema: ServerSchema, example: exampleServer.record },
);

const update = updateRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'updateServer',
    tags,
    summary: 'Edit a server',
    description: 'Absent fields stay as they are, null clears. A rename renames its tools.',
    ...needs('servers:write'),
    params,
  },
  {
    schema: UpdateServerSchema.meta({ id: 'UpdateServer' }),
    example: { description: 'Repositories and issues' },
  },
  {
    description: 'The record as it is now',
    schema: ServerSchema,
    example: { ...exampleServer.record, description: 'Repositories and issues', revision: 2 },
  },
  ['conflict'],
);

const connect = createRoute({
  method: 'post',
  path: `${PATH}/{id}/connect`,
  operationId: 'connectServer',
  tags,
  summary: 'Connect a server',
  ...needs('servers:write'),
  request: { params },
  responses: responsesOf(
    200,
    'Connecting, or connected already',
    z.object({ status: ServerStatusSchema, message: z.string() }),
    {
      errors: [...ACT_ERRORS, 'not_found', 'validation_failed'],
      example: { status: 'CONNECTING', message: 'Connection initiated' },
    },
  ),
});

const disconnect = createRoute({
  method: 'post',
  path: `${PATH}/{id}/disconnect`,
  operationId: 'disconnectServer',
  tags,
  summary: 'Disconnect a server',
  description:
    'Its tools disappear at once; running calls have 30 seconds to end. `pending_requests` counts those that have lasted two seconds.',
  ...needs('servers:write'),
  request: { params },
  responses: responsesOf(
    200,
    'Disconnected',
    z.object({ status: ServerStatusSchema, pending_requests: z.number().int() }),
    {
      errors: [...ACT_ERRORS, 'not_found', 'validation_failed'],
      example: { status: 'DISCONNECTED', pending_requests: 0 },
    },
  ),
});

const remove = deleteRoute({
  path: `${PATH}/{id}`,
  operationId: 'deleteServer',
  tags,
  summary: 'Delete a server and all its tools',
  ...needs('servers:write'),
  params,
});

/** Adds the routes. */
export function registerServers(api: Api, { connectorServers, servers, health }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller } = context.var.snapshot;
    const input = wholeText(context.req.valid('json'));
    const server =
      input.transport_type === 'STDIO'
        ? await connectorServers.createServer(caller, input)
        : await servers.create(caller, input);
    const headers = { location: `${PATH}/${server.id}`, ...etagOf(server) };
    return context.json(await health.show(server), 201, headers);
  });
  api.openapi(list, async context => {
    const { limit, cursor, ...query } = context.req.valid('query');
    const filter = { status: query.status, transportType: query.transport_type, name: query.name };
    const bound = ['servers', query];
    const [after] = (await positionOf(bound, cursor, z.tuple([z.string()]))) ?? [];
    const page = await servers.list(context.var.snapshot.caller, filter, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = await health.showAll(page.items);
    return context.json({ servers: shown, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const { id } = context.req.valid('param');
    const server = await servers.get(context.var.snapshot.caller, id);
    return context.json(await health.show(server), 200, etagOf(server));
  });
  api.openapi(update, async context => {
    const { id } = context.req.valid('param');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const patch = wholeText(context.req.valid('json'));
    const server = await servers.update(context.var.snapshot.caller, id, patch, ifRevision);
    return context.json(await health.show(server), 200, etagOf(server));
  });
  api.openapi(connect, async context => {
    const { id } = context.req.valid('param');
    const status = await servers.connect(context.var.snapshot.caller, id);
    const message = status === 'CONNECTING' ? 'Connection initiated' : 'Connected already';
    return context.json({ status, message }, 200);
  });
  api.openapi(disconnect, async context => {
    const { id } = context.req.valid('param');
    const pending = await servers.disconnect(context.var.snapshot.caller, id);
    return context.json({ status: 'DISCONNECTED', pending_requests: pending } as const, 200);
  });
  api.openapi(remove, async context => {
    await servers.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}

const etagOf = ({ revision }: Server) => ({ etag: toETag(revision) });
