/** `/api/v1/audit/export` and `/shards`: exports the whole audit and lists the chains that can be verified (SEC-6). */
import type { Caller } from '../access/policy/caller.ts';
import { z } from 'zod';
import type { AuditQuery } from '../audit/audit-names.ts';
import type { AuditPosition } from '../audit/audit-schema.ts';
import type { AuditService } from '../audit/audit-service.ts';
import { AUDIT_SCOPE } from '../audit/audit-service.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { EventSchema, exampleEvent, filterQuery, OWN_ROWS, toQuery, toView } from './audit.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageQuery, positionOf } from './paging.ts';
import { snapshotNow } from './request-context.ts';

const PATH = '/api/v1/audit';
const tags = ['audit'];
/** Rows per read of an export. */
const CHUNK = 500;

const exportAll = createRoute({
  method: 'get',
  path: `${PATH}/export`,
  operationId: 'exportAudit',
  tags,
  summary: 'Export the audit',
  description:
    'One JSON object per line, oldest first. To resume an export that broke off, set `after` to the `id` of the last line received. ' +
    'A call has the time of its start, but appears only after its end, so let an export of the newest rows overlap the previous one. ' +
    OWN_ROWS,
  ...needs(AUDIT_SCOPE),
  request: {
    query: z.strictObject({
      ...filterQuery,
      after: z.uuid().optional().meta({ description: 'Only rows after the row with this id' }),
    }),
  },
  errors: ['not_found'],
  responses: responsesOf(200, 'The rows, as they come from the database', EventSchema, {
    type: 'application/x-ndjson',
    example: exampleEvent,
  }),
});

const head = z.object({ seq: z.number().int(), hash: z.string() });
const shards = createRoute({
  method: 'get',
  path: `${PATH}/shards`,
  operationId: 'listAuditShards',
  tags,
  summary: 'List the chains of the audit',
  description:
    'Each chain is checked on its own. The chain of calls is `calls`; where calls are recorded before they are sent, `calls:{principal}`.',
  ...needs('admin'),
  request: { query: z.strictObject(pageQuery) },
  responses: responsesOf(
    200,
    'One page',
    z.object({
      shards: z.array(z.object({ shard: z.string(), head, pruned_to: z.number().int() })),
      next_cursor: z.string().optional(),
    }),
    {
      example: {
        shards: [{ shard: 'admin', head: { seq: 1, hash: exampleEvent.hash }, pruned_to: 0 }],
      },
    },
  ),
});

const ShardPositionSchema = z.tuple([z.string()]);

/** Adds the routes. */
export function registerAuditExport(api: Api, { audit, snapshots }: ApiPorts): void {
  api.openapi(exportAll, async context => {
    const { after: afterId, ...query } = context.req.valid('query');
    const { caller } = context.var.snapshot;
    const after = afterId === undefined ? undefined : await audit.positionOf(caller, afterId);
    const callerNow = async () => {
      const now = await snapshotNow(context, snapshots);
      if (!now) throw new PorticoError('unauthorized');
      return now.caller;
    };
    const pages = readPages(audit, callerNow, toQuery(query), after);
    // Read the first page before the response begins, so that an invalid request gets an error status.
    const first = await pages.next();
    return context.body(toLines(first, pages), 200, { 'content-type': 'application/x-ndjson' });
  });
  api.openapi(shards, async context => {
    const { limit, cursor } = context.req.valid('query');
    const [after] = (await positionOf('audit-shards', cursor, ShardPositionSchema)) ?? [];
    const page = await audit.shards(context.var.snapshot.caller, limit, after);
    const more = await nextOf('audit-shards', page.next);
    const views = page.items.map(({ pruned, ...rest }) => ({ ...rest, pruned_to: pruned.seq }));
    return context.json({ shards: views, ...more }, 200);
  });
}

type Pages = AsyncGenerator<string, void, undefined>;

/** Reads page by page, as far as the caller may at that time; each page becomes one text of JSON lines. */
async function* readPages(
  audit: AuditService,
  callerNow: () => Promise<Caller>,
  query: AuditQuery,
  from: AuditPosition | undefined,
): Pages {
  let after = from;
  do {
    const page = await audit.list(await callerNow(), query, 'oldest', CHUNK, after);
    yield page.items.map(event => `${JSON.stringify(toView(event))}\n`).join('');
    after = page.next as AuditPosition | undefined;
  } while (after !== undefined);
}

/** Streams the pages. Each page is read only after the client took the page before it. */
function toLines(first: IteratorResult<string, void>, rest: Pages): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string, void>> | undefined = Promise.resolve(first);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await (next ?? rest.next());
        next = undefined;
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await rest.return();
      },
    },
    { highWaterMark: 0 },
  );
}
