/** `/api/v1/aggregator/servers`: register, read, edit, connect, disconnect, delete (PRD AG-US1, AG-US6). */
import { z } from 'zod';
import { ShownServerSchema } from '../servers/health/health-schema.ts';
import {
  RegistrationSchema,
  TransportTypeSchema,
  UpdateServerSchema,
  type Server,
} from '../servers/registry/server-schema.ts';
import { ServerStatusSchema } from '../servers/registry/status.ts';
import { createRoute, idOf, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { registerCreate, registerEdits, registerOne } from './records.ts';
import { exampleServer } from './server-examples.ts';

const PATH = '/api/v1/aggregator/servers';
const tags = ['servers'];
const params = idOf('server');

const described = {
  path: PATH,
  tag: 'servers',
  name: 'Server',
  noun: 'record',
  phrase: 'a server',
  scopes: { read: 'servers:read', write: 'servers:write' },
  key: 'server',
  view: ShownServerSchema.meta({ id: 'Server' }),
  example: exampleServer.record,
  delete: { summary: 'Delete a server and all its tools' },
} as const;

const created = {
  schema: RegistrationSchema.meta({ id: 'CreateServer' }),
  example: exampleServer.created,
  summary: 'Register a server',
  description: 'Discovery runs in the background if `auto_connect` is set.',
};

const patch = {
  schema: UpdateServerSchema.meta({ id: 'UpdateServer' }),
  example: { description: 'Repositories and issues' },
  description: 'Absent fields stay as they are, null clears. A rename renames its tools.',
  problems: ['conflict'] as const,
};

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
  responses: responsesOf(200, 'One page', pageOf('servers', described.view, 'ServerPage'), {
    example: { servers: [exampleServer.record], total: 1 },
  }),
});

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
    { example: { status: 'CONNECTING', message: 'Connection initiated' } },
  ),
});

const disconnect = createRoute({
  method: 'post',
  path: `${PATH}/{id}/disconnect`,
  operationId: 'disconnectServer',
  tags,
  summary: 'Disconnect a server',
  description:
    'Its tools disappear at once; running calls have 30 seconds to end. `pending_requests` counts those that have lasted two seconds; it is 0 too if the gateway cannot count them at once.',
  ...needs('servers:write'),
  request: { params },
  responses: responsesOf(
    200,
    'Disconnected',
    z.object({ status: ServerStatusSchema, pending_requests: z.number().int() }),
    { example: { status: 'DISCONNECTED', pending_requests: 0 } },
  ),
});

/** Adds the routes. */
export function registerServers(api: Api, { connectorServers, servers, health }: ApiPorts): void {
  const resource = { ...described, toView: (server: Server) => health.show(server) };
  registerCreate(api, resource, created, async (input, { caller }) => ({
    record:
      input.transport_type === 'STDIO'
        ? await connectorServers.createServer(caller, input)
        : await servers.create(caller, input),
  }));
  registerOne(api, resource, servers);
  registerEdits(api, resource, patch, {
    update: (caller, id, edit, _servers, ifRevision) =>
      servers.update(caller, id, edit, ifRevision),
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
}
