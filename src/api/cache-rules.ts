/** `/api/v1/cache/rules`: which tools may be answered with a result of before. Create, list, get, edit, delete. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import {
  CacheRuleViewSchema,
  CreateCacheRuleSchema,
  toCacheRuleView,
  UpdateCacheRuleSchema,
  type StoredCacheRule,
} from '../servers/cache-rules/cache-rule-schema.ts';
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

const PATH = '/api/v1/cache/rules';
const tags = ['cache'];
const params = idOf('rule');
const RuleSchema = CacheRuleViewSchema.meta({ id: 'CacheRule' });
const example = {
  id: '1c9d2f34-8a1b-4e57-9d7a-5b1f0c2e6a77',
  server: 'weather',
  tool: 'get_*',
  ttl_seconds: 300,
  public: true,
  description: 'The forecast is made anew every hour',
  revision: 1,
  created_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:00.000Z',
};

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createCacheRule',
  tags,
  summary: 'Create a rule of the result cache',
  description:
    'A tool without a rule is never cached, one that is not annotated readOnlyHint neither, whatever a rule says. A rule with the very ' +
    'name of a tool comes before patterns; of patterns the most careful holds: private before public, short before long.',
  ...needs('admin'),
  request: {
    body: bodyOf(CreateCacheRuleSchema.meta({ id: 'CreateCacheRule' }), {
      server: example.server,
      tool: example.tool,
      ttl_seconds: example.ttl_seconds,
      public: example.public,
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
  operationId: 'listCacheRules',
  tags,
  summary: 'List the rules of the result cache',
  description: 'Newest first, page by page.',
  ...needs('admin'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      server: z.string().min(1).max(100).optional().meta({
        description: 'Name or id of a server: its rules',
      }),
    }),
  },
  responses: responsesOf(200, 'One page', pageOf('rules', RuleSchema, 'CacheRulePage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { rules: [example], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getCacheRule',
    tags,
    summary: 'Get a rule of the result cache',
    ...needs('admin'),
    params,
  },
  { description: 'The rule', schema: RuleSchema, example },
);

const update = updateRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'updateCacheRule',
    tags,
    summary: 'Edit a rule of the result cache',
    description:
      'What is absent stays. It is obeyed within a second; what was kept under it is gone.',
    ...needs('admin'),
    params,
  },
  { schema: UpdateCacheRuleSchema.meta({ id: 'UpdateCacheRule' }), example: { ttl_seconds: 60 } },
  {
    description: 'The rule as it is now',
    schema: RuleSchema,
    example: { ...example, ttl_seconds: 60, revision: 2 },
  },
);

const remove = deleteRoute({
  path: `${PATH}/{id}`,
  operationId: 'deleteCacheRule',
  tags,
  summary: 'Delete a rule of the result cache',
  ...needs('admin'),
  params,
});

const PositionSchema = z.tuple([z.number(), z.string()]);
const etagOf = ({ revision }: StoredCacheRule) => ({ etag: toETag(revision) });

/** Add the routes. */
export function registerCacheRules(api: Api, { cacheRules }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller, servers } = context.var.snapshot;
    const rule = await cacheRules.create(caller, context.req.valid('json'), servers);
    const headers = { location: `${PATH}/${rule.id}`, ...etagOf(rule) };
    return context.json(toCacheRuleView(rule, servers), 201, headers);
  });
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const { limit, cursor, server } = context.req.valid('query');
    const bound = ['cache-rules', server ?? null];
    const after = await positionOf(bound, cursor, PositionSchema);
    const page = await cacheRules.list(caller, server, servers, limit, after);
    const more = await nextOf(bound, page.next);
    const shown = page.items.map(rule => toCacheRuleView(rule, servers));
    return context.json({ rules: shown, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const { caller, servers } = context.var.snapshot;
    const rule = await cacheRules.get(caller, context.req.valid('param').id);
    return context.json(toCacheRuleView(rule, servers), 200, etagOf(rule));
  });
  api.openapi(update, async context => {
    const { caller, servers } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const rule = await cacheRules.update(caller, id, context.req.valid('json'), ifRevision);
    return context.json(toCacheRuleView(rule, servers), 200, etagOf(rule));
  });
  api.openapi(remove, async context => {
    await cacheRules.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
