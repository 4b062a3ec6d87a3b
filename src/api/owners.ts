/** `/api/v1/owners`: which records a configuration file owns, and giving a file a record that exists already (OPS-6). */
import { z } from 'zod';
import { OWNED_KINDS, OwnerSchema } from '../shared/identity/record-owner.ts';
import { bodyOf, createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageQuery, positionOf } from './paging.ts';
import { wholeText } from './whole-text.ts';

const PATH = '/api/v1/owners';
const tags = ['owners'];
const TakeSchema = z.strictObject({
  kind: z.enum(OWNED_KINDS).meta({ description: 'Kind of the record' }),
  id: z.string().min(1).max(100).meta({ description: 'Id of the record; of a secret its name' }),
  ...OwnerSchema.shape,
});
const OwnedSchema = z.object({ ...TakeSchema.shape, kind: z.string() }).meta({ id: 'OwnedRecord' });
const example = {
  kind: 'server',
  id: '0b9d4c5e-6f70-4a81-92b3-c4d5e6f70819',
  owner: 'platform',
  key: 'github',
};

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listOwners',
  tags,
  summary: 'List the records that configuration files manage',
  description: 'By kind and id, page by page. Every other record belongs to people.',
  ...needs('admin'),
  request: { query: z.strictObject(pageQuery) },
  responses: responsesOf(
    200,
    'One page',
    z
      .object({
        records: z.array(OwnedSchema),
        next_cursor: z.string().optional().meta({ description: 'Present if there are more' }),
      })
      .meta({ id: 'OwnedRecordPage' }),
    { example: { records: [example] } },
  ),
});

const take = createRoute({
  method: 'put',
  path: PATH,
  operationId: 'takeRecord',
  tags,
  summary: 'Give a record to an owner without changing it',
  description:
    'A write does the same for its record if it has the header `Portico-Owner: OWNER/KEY`, with the key encoded as in URLs.',
  ...needs('admin'),
  request: { body: bodyOf(TakeSchema.meta({ id: 'TakeRecord' }), example) },
  errors: ['not_found'],
  responses: responsesOf(200, 'The record and its owner', OwnedSchema, { example }),
});

/** Adds the routes. */
export function registerOwners(api: Api, { owners }: ApiPorts): void {
  api.openapi(list, async context => {
    const { limit, cursor } = context.req.valid('query');
    const bound = ['owners'];
    const after = await positionOf(bound, cursor, z.tuple([z.string(), z.string()]));
    const page = await owners.list(context.var.snapshot.caller, limit, after);
    const records = page.items.map(({ record_id: id, ...owned }) => ({ ...owned, id }));
    return context.json({ records, ...(await nextOf(bound, page.next)) }, 200);
  });
  api.openapi(take, async context => {
    const owned = wholeText(context.req.valid('json'));
    await owners.take(context.var.snapshot.caller, owned);
    return context.json(owned, 200);
  });
}
