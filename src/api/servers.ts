/** `/api/v1/aggregator/servers`: register, list, get, delete (PRD AG-US1, AG-US6). */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { CreateServerSchema, ServerViewSchema, toServerView } from '../registry/server-schema.ts';
import { responsesOf, type Api, type ApiPorts } from './frame.ts';

const PATH = '/api/v1/aggregator/servers';
const tags = ['servers'];
const params = z.object({ id: z.string().max(100) });

const create = createRoute({
  method: 'post',
  path: PATH,
  tags,
  summary: 'Register a server',
  request: {
    body: { required: true, content: { 'application/json': { schema: CreateServerSchema } } },
  },
  responses: responsesOf(201, 'The record; discovery goes on in the background', ServerViewSchema),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  tags,
  summary: 'List servers',
  responses: responsesOf(200, 'All servers', z.object({ servers: z.array(ServerViewSchema) })),
});

const get = createRoute({
  method: 'get',
  path: `${PATH}/{id}`,
  tags,
  summary: 'Get a server',
  request: { params },
  responses: responsesOf(200, 'The record', ServerViewSchema),
});

const remove = createRoute({
  method: 'delete',
  path: `${PATH}/{id}`,
  tags,
  summary: 'Delete a server and all its tools',
  request: { params },
  responses: responsesOf(204, 'Deleted'),
});

/** Add the routes. */
export function registerServers(api: Api, { servers }: ApiPorts): void {
  api.openapi(create, async context => {
    const server = await servers.create(context.var.snapshot.caller, context.req.valid('json'));
    return context.json(toServerView(server), 201);
  });
  api.openapi(list, async context => {
    const found = await servers.list(context.var.snapshot.caller);
    return context.json({ servers: found.map(toServerView) }, 200);
  });
  api.openapi(get, async context => {
    const { id } = context.req.valid('param');
    return context.json(toServerView(await servers.get(context.var.snapshot.caller, id)), 200);
  });
  api.openapi(remove, async context => {
    await servers.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
