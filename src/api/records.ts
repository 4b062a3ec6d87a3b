/** The routes of a kind of record: create, list, get, edit and delete, made of what it says of itself. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { RecordPositionSchema, type StoredRecord } from '../records/record-schema.ts';
import type { EditedRecords, Records } from '../records/records.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import type { NamedServer } from '../shared/util/name-pattern.ts';
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
} from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { deleteRoute, getRoute, idOf, updateRoute } from './record-routes.ts';

/** What is sent to one of the routes, with an example. */
interface Sent<Body> {
  schema: z.ZodType<Body>;
  example: object;
  description: string;
  /** Where it is not made of the verb and the record's phrase. */
  summary?: string;
}

/** A kind of record in the API. */
export interface RecordResource<T, Created, Query extends object> {
  path: string;
  tag: string;
  /** Its name in the document and in ids of operations: `CacheRule`. */
  name: string;
  /** What descriptions call it: `rule`; and summaries: `a rule of the result cache`. */
  noun: string;
  phrase: string;
  view: z.ZodType;
  example: object;
  toView(record: T, servers: readonly NamedServer[]): object;
  /** What comes of a deletion. */
  deletion?: string;
  create: Sent<Created>;
  list: {
    operationId: string;
    summary: string;
    /** In which order, where the newest is not first. */
    description?: string;
    /** The member of a page that has the records, and the page's name in the document. */
    key: string;
    page: string;
    /** What the records can be filtered by. */
    query: z.ZodType<Query> & { shape: z.ZodRawShape };
  };
}

const etagOf = ({ revision }: StoredRecord) => ({ etag: toETag(revision) });

/** What the routes of one record have in common. */
const oneOf = ({
  path,
  tag,
  noun,
}: Pick<RecordResource<never, never, never>, 'path' | 'tag' | 'noun'>) => ({
  path: `${path}/{id}` as const,
  tags: [tag],
  ...needs('admin'),
  params: idOf(noun),
});

/** Add the routes that make, list, show and delete. */
export function registerRecords<T extends StoredRecord, Created, Query extends object>(
  api: Api,
  resource: RecordResource<T, Created, Query>,
  records: Records<T, Created, Query>,
): void {
  const { path, tag, name, noun, phrase, view, example, toView } = resource;
  const { description, summary = `Create ${phrase}` } = resource.create;
  const create = createRoute({
    method: 'post',
    path,
    operationId: `create${name}`,
    tags: [tag],
    summary,
    description,
    ...needs('admin'),
    request: { body: bodyOf(resource.create.schema, resource.create.example) },
    responses: responsesOf(201, `The ${noun}`, view, {
      errors: [...ACT_ERRORS, ...BODY_ERRORS, 'conflict'],
      headers: { ...LOCATION, ...ETAG },
      example,
    }),
  });
  api.openapi(create, async context => {
    const { caller, servers } = context.var.snapshot;
    const record = await records.create(caller, context.req.valid('json'), servers);
    const headers = { location: `${path}/${record.id}`, ...etagOf(record) };
    return context.json(toView(record, servers), 201, headers);
  });

  const { key, page, query, ...told } = resource.list;
  const list = createRoute({
    method: 'get',
    path,
    description: 'Newest first, page by page.',
    ...told,
    tags: [tag],
    ...needs('admin'),
    request: { query: z.strictObject({ ...pageQuery, ...query.shape }) },
    responses: responsesOf(200, 'One page', pageOf(key, view, page), {
      errors: ['forbidden', 'validation_failed'],
      example: { [key]: [example], total: 1 },
    }),
  });
  api.openapi(list, async context => {
    const { caller, servers } = context.var.snapshot;
    const { limit, cursor, ...filter } = context.req.valid('query');
    const bound = [path, filter];
    const after = await positionOf(bound, cursor, RecordPositionSchema);
    const found = await records.list(caller, query.parse(filter), servers, limit, after);
    const shown = found.items.map(record => toView(record, servers));
    const more = await nextOf(bound, found.next);
    return context.json({ [key]: shown, ...more, total: found.total }, 200);
  });

  const get = getRoute(
    { ...oneOf(resource), operationId: `get${name}`, summary: `Get ${phrase}` },
    { description: `The ${noun}`, schema: view, example },
  );
  api.openapi(get, async context => {
    const { caller, servers } = context.var.snapshot;
    const record = await records.get(caller, context.req.valid('param').id);
    return context.json(toView(record, servers), 200, etagOf(record));
  });

  const remove = deleteRoute({
    ...oneOf(resource),
    operationId: `delete${name}`,
    summary: `Delete ${phrase}`,
    ...(resource.deletion === undefined ? {} : { description: resource.deletion }),
  });
  api.openapi(remove, async context => {
    await records.delete(context.var.snapshot.caller, context.req.valid('param').id);
    return context.body(null, 204);
  });
}

/** What an edit takes. */
interface Patched<Patch> extends Sent<Patch> {
  /** What it changes in the resource's example, where that is not the example of the patch. */
  change?: object;
  /** Codes of problems beside those of every edit. */
  problems?: readonly ErrorCode[];
}

/** Add the route that edits. */
export function registerEdits<T extends StoredRecord, Created, Query extends object, Patch>(
  api: Api,
  resource: RecordResource<T, Created, Query>,
  patch: Patched<Patch>,
  records: EditedRecords<T, Created, Query, Patch>,
): void {
  const { name, noun, phrase, view, toView } = resource;
  const { description, change = patch.example, problems } = patch;
  const update = updateRoute(
    { ...oneOf(resource), operationId: `update${name}`, summary: `Edit ${phrase}`, description },
    patch,
    {
      description: `The ${noun} as it is now`,
      schema: view,
      example: { ...resource.example, ...change, revision: 2 },
    },
    problems,
  );
  api.openapi(update, async context => {
    const { caller, servers } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const record = await records.update(caller, id, context.req.valid('json'), servers, ifRevision);
    return context.json(toView(record, servers), 200, etagOf(record));
  });
}
