/** `/api/v1/principals`: create, list, get, edit, delete. `/api/v1/groups` is read-only, since a group exists by being named. */
import { z } from 'zod';
import {
  CreatePrincipalSchema,
  GroupViewSchema,
  PrincipalQuerySchema,
  PrincipalViewSchema,
  toPrincipalView,
  UpdatePrincipalSchema,
} from '../access/principals/principal-schema.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageQuery, positionOf } from './paging.ts';
import { registerEdits, registerRecords } from './records.ts';

const created = { name: 'Ada', groups: ['engineering'] };

const resource = {
  path: '/api/v1/principals',
  tag: 'principals',
  name: 'Principal',
  noun: 'principal',
  phrase: 'a principal',
  view: PrincipalViewSchema.meta({ id: 'Principal' }),
  example: {
    id: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    ...created,
    claimed_groups: [],
    scopes: null,
    tokens: 1,
    revision: 1,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  toView: toPrincipalView,
  delete: { description: 'Its tokens are revoked and the rules for it alone are deleted.' },
  create: {
    schema: CreatePrincipalSchema.meta({ id: 'CreatePrincipal' }),
    example: created,
    change: { tokens: 0 },
    problems: [],
  },
  list: {
    operationId: 'listPrincipals',
    summary: 'List principals',
    key: 'principals',
    page: 'PrincipalPage',
    query: PrincipalQuerySchema,
  },
};

const patch = {
  schema: UpdatePrincipalSchema.meta({ id: 'UpdatePrincipal' }),
  example: { groups: ['engineering', 'on-call'] },
  description: 'Absent fields stay as they are. The change applies to its tokens within a second.',
};

const listGroups = createRoute({
  method: 'get',
  path: '/api/v1/groups',
  operationId: 'listGroups',
  tags: ['principals'],
  summary: 'List groups',
  description: 'Groups that have members or that rules name, in the order of their names.',
  ...needs('admin'),
  request: { query: z.strictObject(pageQuery) },
  responses: responsesOf(
    200,
    'One page',
    z
      .object({
        groups: z.array(GroupViewSchema.meta({ id: 'Group' })),
        next_cursor: z.string().optional().meta({ description: 'Present if there are more' }),
      })
      .meta({ id: 'GroupPage' }),
    { example: { groups: [{ name: 'engineering', members: 1, rules: 2 }] } },
  ),
});

/** Adds the routes. */
export function registerPrincipals(api: Api, { principals }: ApiPorts): void {
  registerRecords(api, resource, principals);
  registerEdits(api, resource, patch, principals);
  api.openapi(listGroups, async context => {
    const { limit, cursor } = context.req.valid('query');
    const bound = ['groups'];
    const [after] = (await positionOf(bound, cursor, z.tuple([z.string()]))) ?? [];
    const page = await principals.listGroups(context.var.snapshot.caller, limit, after);
    return context.json({ groups: page.items, ...(await nextOf(bound, page.next)) }, 200);
  });
}
