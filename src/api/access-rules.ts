/** `/api/v1/access/rules`: create, list, get, edit, delete. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import {
  CreateRuleSchema,
  RuleViewSchema,
  toRuleView,
  UpdateRuleSchema,
  type StoredRule,
} from '../access/rules/rule-schema.ts';
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

const PATH = '/api/v1/access/rules';
const tags = ['access'];
const params = idOf('rule');
const RuleSchema = RuleViewSchema.meta({ id: 'AccessRule' });
const example = {
  id: '7b1e4f0c-52f5-4b0e-9d59-1f6c1d2a3b44',
  effect: 'deny',
  subject: { kind: 'group', name: 'interns' },
  server: '*',
  tool: 'delete_*',
  read_only: false,
  description: 'Interns delete nothing',
  revision: 1,
  created_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:00.000Z',
};

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createAccessRule',
  tags,
  summary: 'Create an access rule',
  description:
    'Rules for a principal come before rules for its groups, those before rules for everyone; at the first level where one matches, a deny outweighs every allow.',
  ...needs('admin'),
  request: {
    body: bodyOf(CreateRuleSchema.meta({ id: 'CreateAccessRule' }), {
      effect: example.effect,
      subject: example.subject,
      tool: example.tool,
      description: example.description,
    }),
  },
  responses: responsesOf(201, 'The rule', RuleSchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS, 'conflict'],
    headers: { ...LOCATION, ...ETAG },
    example,
  }),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listAccessRules',
  tags,
  summary: 'List access rules',
  description: 'Newest first, page by page.',
  ...needs('admin'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      subject_kind: z.enum(['everyone', 'group', 'principal']).optional(),
      subject: z.string().min(1).max(100).optional().meta({
        description: 'Name of a group, or id of a principal',
      }),
      server: z.string().min(1).max(100).optional().meta({
        description: 'Name or id of a server: rules whose pattern stands for it',
      }),
    }),
  },
  responses: responsesOf(200, 'One page', pageOf('rules', RuleSchema, 'AccessRulePage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { rules: [example], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getAccessRule',
    tags,
    summary: 'Get an access rule',
    ...needs('admin'),
    params,
  },
  { description: 'The rule', schema: RuleSchema, example },
);

const update = updateRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'updateAccessRule',
    tags,
    summary: 'Edit an access rule',
    description: 'What is absent stays. It is obeyed within a second.',
    ...needs('admin'),
    params,
  },
  { schema: UpdateRuleSchema.meta({ id: 'UpdateAccessRule' }), example: { read_only: true } },
  {
    description: 'The rule as it is now',
    schema: RuleSchema,
    example: { ...example, read_only: true, revision: 2 },
  },
);

const remove = deleteRoute({
  path: `${PATH}/{id}`,
  operationId: 'deleteAccessRule',
  tags,
  summary: 'Delete an access rule',
  ...needs('admin'),
  params,
});

const PositionSchema = z.tuple([z.number(), z.string()]);
const etagOf = ({ revision }: StoredRule) => ({ etag: toETag(revision) });

/** Add the routes. */
export function registerAccessRules(api: Api, { rules }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller, servers } = context.var.snapshot;
    const rule = await rules.create(caller, context.req.valid('json'), servers);
    const headers = { location: `${PATH}/${rule.id}`, ...etagOf(rule) };
    return context.json(toRuleView(rule, servers), 201, headers);
  });
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const { limit, cursor, ...filter } = context.req.valid('query');
    const { subject_kind: subjectKind, subject, server } = filter;
    const bound = ['rules', filter];
    const after = await positionOf(bound, cursor, PositionSchema);
    const query = { subjectKind, subject, server };
    const page = await rules.list(caller, query, servers, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = page.items.map(rule => toRuleView(rule, servers));
    return context.json({ rules: shown, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const { caller, servers } = context.var.snapshot;
    const rule = await rules.get(caller, context.req.valid('param').id);
    return context.json(toRuleView(rule, servers), 200, etagOf(rule));
  });
  api.openapi(update, async context => {
    const { caller, servers } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const rule = await rules.update(caller, id, context.req.valid('json'), servers, ifRevision);
    return context.json(toRuleView(rule, servers), 200, etagOf(rule));
  });
  api.openapi(remove, async context => {
    await rules.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
