/** `/api/v1/tokens`: create, list, get, rotate, revoke. A value is in the answer that made it only. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import {
  CreateTokenSchema,
  RotateTokenSchema,
  TokenViewSchema,
  toTokenView,
} from '../access/tokens/token-schema.ts';
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

const PATH = '/api/v1/tokens';
const tags = ['tokens'];
const params = idOf('token');
const TokenSchema = TokenViewSchema.meta({ id: 'Token' });
const IssuedSchema = TokenViewSchema.extend({ token: z.string() }).meta({ id: 'IssuedToken' });
const example = {
  id: '5a1f0a52-7a0e-4f0e-8f0b-6f3c2d1e0a99',
  name: 'laptop',
  principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
  servers: null,
  tools: ['github.get_*'],
  toolsets: null,
  scopes: ['tools:read', 'tools:call'],
  effective_scopes: ['tools:read', 'tools:call'],
  created_at: '2026-11-02T09:00:00.000Z',
  expires_at: '2027-02-01T00:00:00.000Z',
  is_expired: false,
  last_used_at: null,
  former_expires_at: null,
};

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createToken',
  tags,
  summary: 'Create a token',
  description: 'Its value is in this answer and nowhere else.',
  ...needs('admin'),
  request: {
    body: bodyOf(CreateTokenSchema.meta({ id: 'CreateToken' }), {
      name: 'laptop',
      scopes: ['tools:read', 'tools:call'],
    }),
  },
  responses: responsesOf(201, 'The token with its value', IssuedSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS],
    headers: LOCATION,
    example: { ...example, token: 'portico_…' },
  }),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listTokens',
  tags,
  summary: 'List tokens',
  description: 'Newest first, page by page; those that expired too.',
  ...needs('admin'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      name: z.string().min(1).max(100).optional().meta({
        description: 'A part of the name, without regard to case',
      }),
      principal: z.string().min(1).max(100).optional().meta({
        description: 'Only tokens of the principal with this id',
      }),
    }),
  },
  responses: responsesOf(200, 'One page', pageOf('tokens', TokenSchema, 'TokenPage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { tokens: [example], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getToken',
    tags,
    summary: 'Get a token',
    description: 'Without its value.',
    ...needs('admin'),
    params,
  },
  { description: 'The token', schema: TokenSchema, example },
  false,
);

const rotate = createRoute({
  method: 'post',
  path: `${PATH}/{id}/rotate`,
  operationId: 'rotateToken',
  tags,
  summary: 'Give a token another value',
  description:
    'It works at once and is in this answer only. The value before works for the grace time, none by default; a second rotation ends that.',
  ...needs('admin'),
  request: {
    params,
    body: {
      ...bodyOf(RotateTokenSchema.meta({ id: 'RotateToken' }), { grace_seconds: 3600 }),
      required: false,
    },
  },
  responses: responsesOf(200, 'The token with its new value', IssuedSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS, 'not_found', 'conflict'],
    example: { ...example, former_expires_at: '2026-11-02T10:00:00.000Z', token: 'portico_…' },
  }),
});

const remove = deleteRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'deleteToken',
    tags,
    summary: 'Revoke a token',
    description: 'It is refused everywhere within a second, also the value before a rotation.',
    ...needs('admin'),
    params,
  },
  'Revoked',
);

const PositionSchema = z.tuple([z.number(), z.string()]);

/** Add the routes. */
export function registerTokens(api: Api, { tokens }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller, servers } = context.var.snapshot;
    const { token, value } = await tokens.create(caller, context.req.valid('json'), servers);
    const headers = { location: `${PATH}/${token.id}` };
    const view = toTokenView(token, servers, Date.now());
    return context.json({ ...view, token: value }, 201, headers);
  });
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const { limit, cursor, ...filter } = context.req.valid('query');
    const bound = ['tokens', filter];
    const after = await positionOf(bound, cursor, PositionSchema);
    const page = await tokens.list(caller, filter, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = page.items.map(token => toTokenView(token, servers, Date.now()));
    return context.json({ tokens: shown, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const { caller, servers } = context.var.snapshot;
    const token = await tokens.get(caller, context.req.valid('param').id);
    return context.json(toTokenView(token, servers, Date.now()), 200);
  });
  api.openapi(rotate, async context => {
    const { caller, servers } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const { grace_seconds: seconds = 0 } = context.req.valid('json');
    const { token, value } = await tokens.rotate(caller, id, seconds * 1000);
    return context.json({ ...toTokenView(token, servers, Date.now()), token: value }, 200);
  });
  api.openapi(remove, async context => {
    await tokens.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
