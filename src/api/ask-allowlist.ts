/** `/api/v1/ask/allowlist`: what may be asked for; create, list, get, delete. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { CreateEntrySchema, EntryViewSchema, toEntryView } from '../agents/ask/allowlist-schema.ts';
import { toETag } from './etag.ts';
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
import { deleteRoute, getRoute, idOf } from './record-routes.ts';

const PATH = '/api/v1/ask/allowlist';
const tags = ['ask'];
const params = idOf('entry');
const EntrySchema = EntryViewSchema.meta({ id: 'AskAllowlistEntry' });
const example = {
  id: '2c6e0d1a-8f5b-4a83-9f0e-6d1b2a3c4d55',
  subject: { kind: 'everyone' },
  server: 'documents',
  tool: 'search_*',
  side_effects: false,
  description: 'Anybody may have documents searched',
  revision: 1,
  created_at: '2026-11-22T09:00:00.000Z',
};

const create = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'createAskAllowlistEntry',
  tags,
  summary: 'Allow tools to be asked for',
  description:
    'Without an entry nothing can be asked for. What an entry allows, access rules and tokens still have to. A tool that is not annotated ' +
    'read-only needs an entry that names exactly its server and tool and says side_effects.',
  ...needs('admin'),
  request: {
    body: bodyOf(CreateEntrySchema.meta({ id: 'CreateAskAllowlistEntry' }), {
      server: '*',
      tool: 'search_*',
      description: example.description,
    }),
  },
  responses: responsesOf(201, 'The entry', EntrySchema, {
    errors: [...ACT_ERRORS, ...BODY_ERRORS, 'conflict'],
    headers: { ...LOCATION, ...ETAG },
    example,
  }),
});

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listAskAllowlist',
  tags,
  summary: 'List what may be asked for',
  description: 'Newest first, page by page.',
  ...needs('admin'),
  request: { query: z.strictObject(pageQuery) },
  responses: responsesOf(200, 'One page', pageOf('entries', EntrySchema, 'AskAllowlistPage'), {
    errors: ['forbidden', 'validation_failed'],
    example: { entries: [example], total: 1 },
  }),
});

const get = getRoute(
  {
    path: `${PATH}/{id}`,
    operationId: 'getAskAllowlistEntry',
    tags,
    summary: 'Get an entry of the allow-list of ask',
    ...needs('admin'),
    params,
  },
  { description: 'The entry', schema: EntrySchema, example },
);

const remove = deleteRoute({
  path: `${PATH}/{id}`,
  operationId: 'deleteAskAllowlistEntry',
  tags,
  summary: 'Delete an entry of the allow-list of ask',
  ...needs('admin'),
  params,
});

const PositionSchema = z.tuple([z.number(), z.string()]);

/** Add the routes. */
export function registerAskAllowlist(api: Api, { askAllowlist }: ApiPorts): void {
  api.openapi(create, async context => {
    const { caller, servers } = context.var.snapshot;
    const entry = await askAllowlist.create(caller, context.req.valid('json'), servers);
    const headers = { location: `${PATH}/${entry.id}`, etag: toETag(entry.revision) };
    return context.json(toEntryView(entry, servers), 201, headers);
  });
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const { limit, cursor } = context.req.valid('query');
    const bound = ['ask-allowlist'];
    const after = await positionOf(bound, cursor, PositionSchema);
    const page = await askAllowlist.list(caller, limit, after);
    const more = await nextOf(bound, page.next);
    const entries = page.items.map(entry => toEntryView(entry, servers));
    return context.json({ entries, ...more, total: page.total }, 200);
  });
  api.openapi(get, async context => {
    const { caller, servers } = context.var.snapshot;
    const entry = await askAllowlist.get(caller, context.req.valid('param').id);
    return context.json(toEntryView(entry, servers), 200, { etag: toETag(entry.revision) });
  });
  api.openapi(remove, async context => {
    await askAllowlist.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}
