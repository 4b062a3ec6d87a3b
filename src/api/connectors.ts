/** `/api/v1/connectors`: enrol, list, get, revoke; and the route where a connector registers its own servers with its device token. */
import { z } from 'zod';
import {
  CONNECTOR_SCOPES,
  ConnectorViewSchema,
  CreateConnectorSchema,
  OffersSchema,
  RegisteredSchema,
  toConnectorView,
} from '../servers/connectors/connector-schema.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { bodyOf, createRoute, idOf, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { registerCreate, registerList, registerOne } from './records.ts';

const PATH = '/api/v1/connectors';
/** Where a connector registers its servers: the only path whose credential is a device token. */
export const SELF_PATH = `${PATH}/self/servers`;
const resource = {
  path: PATH,
  tag: 'connectors',
  name: 'Connector',
  noun: 'connector',
  phrase: 'a connector',
  scopes: CONNECTOR_SCOPES,
  key: 'connector, or its name',
  view: ConnectorViewSchema.meta({ id: 'Connector' }),
  example: {
    id: '3f2c1b0a-9d8e-4c7b-a6f5-0e1d2c3b4a59',
    name: 'build-box',
    status: 'CONNECTED',
    created_at: '2026-11-02T09:00:00.000Z',
    last_seen_at: '2026-11-02T09:05:00.000Z',
  },
  toView: toConnectorView,
  delete: {
    summary: 'Revoke a connector',
    description:
      'Its machine is disconnected at once. Its servers stay registered, but cannot be reached.',
  },
  deleted: 'Revoked',
};

const EnrolledSchema = z.object({ connector: resource.view, token: z.string() });

const created = {
  schema: CreateConnectorSchema.meta({ id: 'CreateConnector' }),
  example: { name: 'build-box' },
  summary: 'Enrol a connector',
  description:
    'The device token is shown only in this answer; `portico connect` on the machine uses it.',
  answer: {
    description: 'The connector and its device token',
    schema: EnrolledSchema,
    example: {
      connector: { ...resource.example, status: 'DISCONNECTED', last_seen_at: null },
      token: 'portico_device_…',
    },
  },
};

const listed = {
  operationId: 'listConnectors',
  summary: 'List connectors',
  description: 'In the order of their names, page by page.',
  key: 'connectors',
  page: 'ConnectorPage',
  query: z.strictObject({}),
};

const rotate = createRoute({
  method: 'post',
  path: `${PATH}/{id}/rotate`,
  operationId: 'rotateConnector',
  tags: ['connectors'],
  summary: 'Give a connector a new device token',
  description:
    'For a machine that lost its token, or a new machine in its place. The servers stay; a machine that is connected with the old token is disconnected at once.',
  ...needs('servers:write'),
  request: { params: idOf(resource.key) },
  responses: responsesOf(200, 'The connector and its new device token', EnrolledSchema, {
    example: { connector: resource.example, token: 'portico_device_…' },
  }),
});

const register = createRoute({
  method: 'put',
  path: SELF_PATH,
  operationId: 'registerOffers',
  tags: ['connectors'],
  summary: 'Register the servers of a machine',
  description:
    'For a connector itself, with its device token, before it connects to `/connect`. Servers that are already registered stay as they are; a name that another server has is reported as a problem of that entry.',
  security: [{ device: [] }],
  request: {
    body: bodyOf(OffersSchema.meta({ id: 'Offers' }), { servers: [{ name: 'files' }] }),
  },
  responses: responsesOf(
    200,
    'The outcome for each server',
    z.object({
      connector: ConnectorViewSchema.pick({ id: true, name: true }),
      servers: z.array(RegisteredSchema.meta({ id: 'Registered' })),
    }),
    {
      example: {
        connector: { id: resource.example.id, name: resource.example.name },
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

/** Adds the routes. */
export function registerConnectors(api: Api, { connectors, connectorServers }: ApiPorts): void {
  api.openapi(register, async context => {
    const { connector } = context.var;
    if (!connector) throw new PorticoError('unauthorized');
    const { id, name } = connector;
    const servers = await connectorServers.register(connector, context.req.valid('json').servers);
    return context.json({ connector: { id, name }, servers }, 200);
  });
  registerCreate(api, resource, created, async (body, { caller }) => {
    const { connector, token } = await connectors.create(caller, body);
    return { record: connector, shown: { connector: toConnectorView(connector), token } };
  });
  registerList(api, resource, listed, connectors);
  registerOne(api, resource, connectors);
  api.openapi(rotate, async context => {
    const { caller } = context.var.snapshot;
    const { connector, token } = await connectors.rotate(caller, context.req.valid('param').id);
    return context.json({ connector: toConnectorView(connector), token }, 200);
  });
}
