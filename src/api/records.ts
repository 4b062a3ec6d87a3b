/** Builds the routes of a kind of record from its definition: create, list, get, edit and delete. */
import { z } from 'zod';
import type { Snapshot } from '../access/admission/snapshots.ts';
import type { Caller } from '../access/policy/caller.ts';
import { ADMIN_ONLY, RecordPositionSchema, type RecordScopes } from '../records/record-schema.ts';
import type { EditedRecords, ReadRecords, Records } from '../records/records.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import type { NamedServer } from '../shared/util/name-pattern.ts';
import { ifMatchHeader, parseIfMatch, toETag } from './etag.ts';
import {
  bodyOf,
  createRoute,
  ETAG,
  idOf,
  LOCATION,
  needs,
  responsesOf,
  type Api,
} from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { wholeText } from './whole-text.ts';

/** A kind of record in the API. */
export interface RecordResource<T> {
  path: string;
  tag: string;
  /** Its name in the document and in operation ids: `CacheRule`. */
  name: string;
  /** Its name in descriptions, such as `rule`, and in summaries, such as `a rule of the result cache`. */
  noun: string;
  phrase: string;
  /** The scopes of the kind; only administrators by default. */
  scopes?: RecordScopes;
  /** Text that identifies the record in a path, where it is not only the id. */
  key?: string;
  /** Maximum length of that text, where an id may be long. */
  maxKeyChars?: number;
  /** Schema of its view; a view with a revision has an ETag. */
  view: z.ZodType & { shape: object };
  example: object;
  /** @param servers the registry in the caller's snapshot */
  toView(record: T, servers: readonly NamedServer[], snapshot: Snapshot): object | Promise<object>;
  get?: { description: string };
  delete?: { summary?: string; description?: string };
  /** Description of the response to a deletion. */
  deleted?: string;
}

/** The body of a request, with an example. */
interface Sent<Body> {
  schema: z.ZodType<Body>;
  example: object;
  description?: string;
  /** Set where it is not composed of the verb and the record's phrase. */
  summary?: string;
  /** Members of the response's example that differ from the resource's example. */
  change?: object;
  /** Codes of problems besides those of every such route. */
  problems?: readonly ErrorCode[];
}

/** Response in place of the record, for a value that is shown once. */
interface Answered {
  description: string;
  schema: z.ZodType;
  example: object;
}

interface Listed<Query extends object> {
  operationId: string;
  summary: string;
  /** Names the order, where it is not newest first. */
  description?: string;
  /** The member of a page that holds the records, and the page's name in the document. */
  key: string;
  page: string;
  /** Filters of the list. */
  query: z.ZodType<Query> & { shape: z.ZodRawShape };
}

const etagOf = (record: object) =>
  'revision' in record && typeof record.revision === 'number'
    ? { etag: toETag(record.revision) }
    : {};

const hasRevision = ({ view }: RecordResource<never>) => 'revision' in view.shape;

const factsOf = (
  { tag, scopes = ADMIN_ONLY }: RecordResource<never>,
  access: keyof RecordScopes,
) => ({ tags: [tag], ...needs(scopes[access]) });

/** What the routes of one record share. */
const oneOf = (resource: RecordResource<never>, access: keyof RecordScopes) => ({
  path: `${resource.path}/{id}` as const,
  ...factsOf(resource, access),
  request: { params: idOf(resource.key ?? resource.noun, resource.maxKeyChars) },
});

/**
 * Adds the route that creates a record.
 * @param make creates the record from the body; `shown` is the response where it is not the record's view
 */
export function registerCreate<T extends { id: string }, Created>(
  api: Api,
  resource: RecordResource<T>,
  sent: Sent<Created> & { answer?: Answered },
  make: (body: Created, snapshot: Snapshot) => Promise<{ record: T; shown?: object }>,
): void {
  const { path, name, noun, phrase, view, example, toView } = resource;
  const { description, change, problems = ['conflict'], summary = `Create ${phrase}` } = sent;
  const {
    answer = { description: `The ${noun}`, schema: view, example: { ...example, ...change } },
  } = sent;
  const route = createRoute({
    method: 'post',
    path,
    operationId: `create${name}`,
    summary,
    ...(description === undefined ? {} : { description }),
    ...factsOf(resource, 'write'),
    request: { body: bodyOf(sent.schema, sent.example) },
    errors: problems,
    responses: responsesOf(201, answer.description, answer.schema, {
      headers: { ...LOCATION, ...(hasRevision(resource) ? ETAG : {}) },
      example: answer.example,
    }),
  });
  api.openapi(route, async context => {
    const { snapshot } = context.var;
    const { record, shown } = await make(wholeText(context.req.valid('json')), snapshot);
    const headers = { location: `${path}/${record.id}`, ...etagOf(record) };
    return context.json(shown ?? (await toView(record, snapshot.servers, snapshot)), 201, headers);
  });
}

/** Adds the route that lists records. */
export function registerList<T, Query extends object>(
  api: Api,
  resource: RecordResource<T>,
  { key, page, query, ...facts }: Listed<Query>,
  records: Pick<ReadRecords<T, Query>, 'list'>,
): void {
  const { path, view, example, toView } = resource;
  const route = createRoute({
    method: 'get',
    path,
    description: 'Newest first, page by page.',
    ...facts,
    ...factsOf(resource, 'read'),
    request: { query: z.strictObject({ ...pageQuery, ...query.shape }) },
    responses: responsesOf(200, 'One page', pageOf(key, view, page), {
      example: { [key]: [example], total: 1 },
    }),
  });
  api.openapi(route, async context => {
    const { snapshot } = context.var;
    const { caller, servers } = snapshot;
    const { limit, cursor, ...filter } = context.req.valid('query');
    const bound = [path, filter];
    const after = await positionOf(bound, cursor, RecordPositionSchema);
    const found = await records.list(caller, query.parse(filter), servers, limit, after);
    const shown = await Promise.all(
      found.items.map(record => toView(record, snapshot.servers, snapshot)),
    );
    const more = await nextOf(bound, found.next);
    return context.json({ [key]: shown, ...more, total: found.total }, 200);
  });
}

/** How one record is read and deleted. @param servers the registry in the caller's snapshot */
interface OneRecord<T> {
  get(caller: Caller, id: string, servers: readonly Server[]): Promise<T>;
  delete(caller: Caller, id: string, servers: readonly Server[]): Promise<void>;
}

/** Adds the routes that get and delete a record. */
export function registerOne<T extends object>(
  api: Api,
  resource: RecordResource<T>,
  records: OneRecord<T>,
): void {
  const { name, noun, phrase, view, example, toView, deleted = 'Deleted' } = resource;
  const get = createRoute({
    method: 'get',
    ...oneOf(resource, 'read'),
    operationId: `get${name}`,
    summary: `Get ${phrase}`,
    ...resource.get,
    responses: responsesOf(200, `The ${noun}`, view, {
      ...(hasRevision(resource) ? { headers: ETAG } : {}),
      example,
    }),
  });
  api.openapi(get, async context => {
    const { snapshot } = context.var;
    const { caller, servers } = snapshot;
    const record = await records.get(caller, context.req.valid('param').id, servers);
    return context.json(await toView(record, servers, snapshot), 200, etagOf(record));
  });

  const remove = createRoute({
    method: 'delete',
    ...oneOf(resource, 'write'),
    operationId: `delete${name}`,
    summary: `Delete ${phrase}`,
    ...resource.delete,
    responses: responsesOf(204, deleted),
  });
  api.openapi(remove, async context => {
    const { caller, servers } = context.var.snapshot;
    await records.delete(caller, context.req.valid('param').id, servers);
    return context.body(null, 204);
  });
}

/** A kind of record that is created from a body and listed in pages. */
export interface PagedResource<T, Created, Query extends object> extends RecordResource<T> {
  create: Sent<Created>;
  list: Listed<Query>;
}

/** Adds the routes that create, list, get and delete records. */
export function registerRecords<T extends { id: string }, Created, Query extends object>(
  api: Api,
  resource: PagedResource<T, Created, Query>,
  records: Records<T, Created, Query>,
): void {
  registerCreate(api, resource, resource.create, async (body, { caller, servers }) => ({
    record: await records.create(caller, body, servers),
  }));
  registerList(api, resource, resource.list, records);
  registerOne(api, resource, records);
}

/** Adds the route that edits a record. */
export function registerEdits<T extends object, Patch>(
  api: Api,
  resource: RecordResource<T>,
  patch: Sent<Patch>,
  records: Pick<EditedRecords<T, never, never, Patch>, 'update'>,
): void {
  const { name, noun, phrase, view, toView } = resource;
  const { description, change = patch.example, problems = [] } = patch;
  const { request, ...facts } = oneOf(resource, 'write');
  const update = createRoute({
    method: 'patch',
    ...facts,
    operationId: `update${name}`,
    summary: `Edit ${phrase}`,
    ...(description === undefined ? {} : { description }),
    request: { ...request, headers: ifMatchHeader, body: bodyOf(patch.schema, patch.example) },
    errors: [...problems, 'precondition_failed'],
    responses: responsesOf(200, `The ${noun} as it is now`, view, {
      headers: ETAG,
      example: { ...resource.example, ...change, revision: 2 },
    }),
  });
  api.openapi(update, async context => {
    const { snapshot } = context.var;
    const { caller, servers } = snapshot;
    const { id } = context.req.valid('param');
    const ifRevision = parseIfMatch(context.req.valid('header')['if-match']);
    const body = wholeText(context.req.valid('json'));
    const record = await records.update(caller, id, body, servers, ifRevision);
    return context.json(await toView(record, snapshot.servers, snapshot), 200, etagOf(record));
  });
}
