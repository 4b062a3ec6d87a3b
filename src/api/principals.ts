/** `/api/v1/principals` and `/api/v1/groups`: create, list, get, edit, delete; groups are read only, since they exist by being named. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import {
  CreatePrincipalSchema,
  GroupViewSchema,
  PrincipalViewSchema,
  toPrincipalView,
  UpdatePrincipalSchema,
  type Principal,
} from '../access/principals/principal-schema.ts';
import { GroupSchema } from '../access/policy/rule.ts';
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

const PATH = '/api/v1/principals';
const tags = ['principals'];
const params = idOf('principal');
const PrincipalSchema = PrincipalViewSchema.meta({ id: 'Principal' });
const example = {
  id: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
  name: 'Ada',
  groups: ['engineering'],
  scopes: null,
  tokens: 1,
  revision: 1,
  created_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:00.000Z',
};

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createPrincipal',
  tags,
  summary: 'Create a principal',
  ...needs('admin'),
  request: {
    body: bodyOf(CreatePrincipalSchema.meta({ id: 'CreatePrincipal' }), {
      name: example.name,
      groups: example.groups,
    }),
  },
  responses: responsesOf(201, 'The principal', PrincipalSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS],
    headers: { ...LOCATION, ...ETAG },
    example: { ...example, tokens: 0 },
  }),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listPrincipals',
  tags,
  summary: 'List principals',
  description: 'Newest first, page by page.',
  ...needs('admin'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      name: z.string().min(1).max(100).optional().meta({
        description: 'A part of the name, without regard to case',
      }),
      group: GroupSchema.optional().meta({ description: 'Only members of this group' }),
    }),
  },
  responses: responsesOf(200, 'One page', pageOf('principals', PrincipalSchema, 'PrincipalPage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { principals: [example], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getPrincipal',
    tags,
    summary: 'Get a principal',
    ...needs('admin'),
    params,
  },
  { description: 'The principal', schema: PrincipalSchema, example },
);

const update = updateRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'updatePrincipal',
    tags,
    summary: 'Edit a principal',
    description: 'What is absent stays. Its tokens obey within a second.',
    ...needs('admin'),
    params,
  },
  {
    schema: UpdatePrincipalSchema.meta({ id: 'UpdatePrincipal' }),
    example: {
      groups: ['engineering', 'on-call'],
    },
  },
  {
    description: 'The principal as it is now',
    schema: PrincipalSchema,
    example: { ...example, groups: ['engineering', 'on-call'], revision: 2 },
  },
);

const remove = deleteRoute({
  path: `${PATH}/{id}`,
  operationId: 'deletePrincipal',
  tags,
  summary: 'Delete a principal',
  description: 'Its tokens are revoked and the rules for it alone are deleted.',
  ...needs('admin'),
  params,
});

const listGroups = createRoute({
  method: 'get',
  path: '/api/v1/groups',
  operationId: 'listGroups',
  tags,
  summary: 'List groups',
  description: 'Those that principals are in or rules name, in the order of their names.',
  ...needs('admin'),
  request: { query: z.strictObject(pageQuery) },
  responses: responsesOf(
    200,
    'One page',
    z
      .object({
        groups: z.array(GroupViewSchema.meta({ id: 'Group' })),
        next_cursor: z.string().optional().meta({ description: 'There where more follow' }),
      })
      .meta({ id: 'GroupPage' }),
    {
      errors: ['forbidden', 'validation_failed'],
      example: { groups: [{ name: 'engineering', members: 1, rules: 2 }] },
    },
  ),
});

const PositionSchema = z.tuple([z.number(), z.string()]);
const etagOf = ({ revision }: Principal) => ({ etag: toETag(revision) });

/** Add the routes. */
export function registerPrincipals(api: Api, { principals }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller } = context.var.snapshot;
    const principal = await principals.create(caller, context.req.valid('json'));
    const headers = { location: `${PATH}/${principal.id}`, ...etagOf(principal) };
    return context.json(toPrincipalView(principal), 201, headers);
  });
  api.openapi(list, async context => {
    const { limit, cursor, ...filter } = context.req.valid('query');
    const bound = ['principals', filter];
    const after = await positionOf(bound, cursor, PositionSchema);
    const page = await principals.list(context.var.snapshot.caller, filter, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = page.items.map(toPrincipalView);
    return context.json({ principals: shown, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const { id } = context.req.valid('param');
    const principal = await principals.get(context.var.snapshot.caller, id);
    return context.json(toPrincipalView(principal), 200, etagOf(principal));
  });
  api.openapi(update, async context => {
    const { caller } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const principal = await principals.update(caller, id, context.req.valid('json'), ifRevision);
    return context.json(toPrincipalView(principal), 200, etagOf(principal));
  });
  api.openapi(remove, async context => {
    await principals.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
  api.openapi(listGroups, async context => {
    const { limit, cursor } = context.req.valid('query');
    const bound = ['groups'];
    const [after] = (await positionOf(bound, cursor, z.tuple([z.string()]))) ?? [];
    const page = await principals.listGroups(context.var.snapshot.caller, limit, after);
    return context.json({ groups: page.items, ...(await nextOf(bound, page.next)) }, 200);
  });
}
