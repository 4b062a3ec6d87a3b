/** `/api/v1/connectors`: enrol, list, get, revoke; and what a connector registers itself, with its device token. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import {
  ConnectorViewSchema,
  CreateConnectorSchema,
  OffersSchema,
  RegisteredSchema,
  toConnectorView,
} from '../servers/connectors/connector-schema.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import {
  ACT_ERRORS,
  bodyOf,
  BODY_ERRORS,
  LOCATION,
  needs,
  responsesOf,
  type Api,
  type ApiPorts,
} from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { deleteRoute, getRoute, idOf } from './record-routes.ts';

const PATH = '/api/v1/connectors';
/** Where a connector registers what it has: the one path whose credential is a device token. */
export const SELF_PATH = `${PATH}/self/servers`;
const tags = ['connectors'];
const params = idOf('connector, or its name');
const ConnectorSchema = ConnectorViewSchema.meta({ id: 'Connector' });
const example = {
  id: '3f2c1b0a-9d8e-4c7b-a6f5-0e1d2c3b4a59',
  name: 'build-box',
  status: 'CONNECTED',
  created_at: '2026-11-02T09:00:00.000Z',
  last_seen_at: '2026-11-02T09:05:00.000Z',
};

const EnrolledSchema = z.object({ connector: ConnectorSchema, token: z.string() });

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createConnector',
  tags,
  summary: 'Enrol a connector',
  description:
    'The device token is shown here and never again; `portico connect` on the machine uses it.',
  ...needs('servers:write'),
  request: {
    body: bodyOf(CreateConnectorSchema.meta({ id: 'CreateConnector' }), { name: 'build-box' }),
  },
  responses: responsesOf(201, 'The connector and its device token', EnrolledSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS, 'conflict'],
    headers: LOCATION,
    example: {
      connector: { ...example, status: 'DISCONNECTED', last_seen_at: null },
      token: 'portico_device_…',
    },
  }),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listConnectors',
  tags,
  summary: 'List connectors',
  description: 'In the order of their names, page by page.',
  ...needs('servers:read'),
  request: { query: z.strictObject(pageQuery) },
  responses: responsesOf(200, 'One page', pageOf('connectors', ConnectorSchema, 'ConnectorPage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { connectors: [example], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getConnector',
    tags,
    summary: 'Get a connector',
    ...needs('servers:read'),
    params,
  },
  { description: 'The connector', schema: ConnectorSchema, example },
  false,
);

const rotate = createRoute({
  method: 'post',
  path: `${PATH}/{id}/rotate`,
  operationId: 'rotateConnector',
  tags,
  summary: 'Give a connector another device token',
  description:
    'For a machine that lost its token, or another one in its place. The servers stay; whoever came with the token before is sent away at once.',
  ...needs('servers:write'),
  request: { params },
  responses: responsesOf(200, 'The connector and its new device token', EnrolledSchema, {
    errors: [...ACT_ERRORS, 'not_found'],
    example: { connector: example, token: 'portico_device_…' },
  }),
});

const remove = deleteRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'deleteConnector',
    tags,
    summary: 'Revoke a connector',
    description:
      'Its machine is sent away at once. Its servers stay registered, and cannot be reached.',
    ...needs('servers:write'),
    params,
  },
  'Revoked',
);

const register = createRoute({
  method: 'put',
  path: SELF_PATH,
  operationId: 'registerOffers',
  tags,
  summary: 'Register the servers of a machine',
  description:
    'By a connector itself, with its device token, before it dials `/connect`. What is registered already stays as it is; a name that another server has is told as a problem of that one.',
  security: [{ device: [] }],
  request: {
    body: bodyOf(OffersSchema.meta({ id: 'Offers' }), { servers: [{ name: 'files' }] }),
  },
  responses: responsesOf(
    200,
    'What became of each',
    z.object({
      connector: ConnectorSchema.pick({ id: true, name: true }),
      servers: z.array(RegisteredSchema.meta({ id: 'Registered' })),
    }),
    {
      errors: [...ACT_ERRORS, ...BODY_ERRORS],
      example: {
        connector: { id: example.id, name: example.name },
        servers: [
          {
            name: 'files',
            id: '0b9d4c5e-6f70-4a81-92b3-c4d5e6f70819',
            registered_as: 'files',
            problem: null,
          },
        ],
      },
    },
  ),
});

/** Add the routes. */
export function registerConnectors(api: Api, { connectors }: ApiPorts): void {
  api.openapi(register, async context => {
    const { connector } = context.var;
    if (!connector) throw new PorticoError('unauthorized');
    const { id, name } = connector;
    const servers = await connectors.register(connector, context.req.valid('json').servers);
    return context.json({ connector: { id, name }, servers }, 200);
  });
  api.openapi(create, async context => {
    const { caller } = context.var.snapshot;
    const { connector, token } = await connectors.create(caller, context.req.valid('json').name);
    const location = `${PATH}/${connector.id}`;
    return context.json({ connector: toConnectorView(connector), token }, 201, { location });
  });
  api.openapi(list, async context => {
    const { limit, cursor } = context.req.valid('query');
    const bound = ['connectors'];
    const [after] = (await positionOf(bound, cursor, z.tuple([z.string()]))) ?? [];
    const page = await connectors.list(context.var.snapshot.caller, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = page.items.map(toConnectorView);
    return context.json({ connectors: shown, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const connector = await connectors.get(
      context.var.snapshot.caller,
      context.req.valid('param').id,
    );
    return context.json(toConnectorView(connector), 200);
  });
  api.openapi(rotate, async context => {
    const { caller } = context.var.snapshot;
    const { connector, token } = await connectors.rotate(caller, context.req.valid('param').id);
    return context.json({ connector: toConnectorView(connector), token }, 200);
  });
  api.openapi(remove, async context => {
    await connectors.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
