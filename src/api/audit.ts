/** `/api/v1/audit`: searches calls and changes, and verifies the chains they are written in (SEC-6). */
import { z } from 'zod';
import type { AuditQuery, NamedEvent } from '../audit/audit-names.ts';
import { AuditKindSchema, AuditOutcomeSchema } from '../audit/audit-schema.ts';
import { ADMIN_SHARD } from '../audit/admin-audit.ts';
import { AUDIT_SCOPE } from '../audit/audit-service.ts';
import { MAX_NAME_CHARS, MAX_URI_CHARS } from '../shared/util/name-limits.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageQuery, positionOf } from './paging.ts';

const PATH = '/api/v1/audit';
const tags = ['audit'];
/** Maximum number of chain rows that one request checks. */
const MAX_CHECKED = 10_000;
/** Describes which rows a caller sees. */
export const OWN_ROWS =
  'Administrators see all rows. A person sees their own calls, and what they did with the token or sign-in of this request; ' +
  'a client, or a token with limits, sees only what was done with that token. Rows of others never match.';
const time = (description: string) =>
  z.iso.datetime({ offset: true }).optional().meta({ description });

/** Query parameters that filter a search. */
export const filterQuery = {
  principal: z.string().max(200).optional().meta({ description: 'Id or name of who did it' }),
  token: z.string().max(200).optional().meta({ description: 'Id or name of the token' }),
  server: z.string().max(200).optional().meta({
    description: 'Id or name of a server: changes to it and calls to it',
  }),
  tool: z.string().max(MAX_NAME_CHARS).optional().meta({
    description: 'Qualified name of a tool, in any style: calls of it',
  }),
  action: z.string().max(100).optional().meta({ description: 'Noun and verb, such as tool.call' }),
  subject: z.string().max(MAX_URI_CHARS).optional().meta({
    description: 'Id or name of what was changed; for a call, the qualified name',
  }),
  subject_prefix: z.string().max(MAX_URI_CHARS).optional().meta({
    description: 'Beginning of the subject: `github.` for all tools of a server',
  }),
  outcome: AuditOutcomeSchema.optional(),
  kind: AuditKindSchema.optional().meta({
    description: 'Only calls of clients, or only acts of administrators and people',
  }),
  since: time('From this time on'),
  until: time('Before this time'),
};

const NAME = z.string().nullable().meta({
  description: 'Its current or last name; null if not known',
});

export const EventSchema = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    principal: z.string(),
    principal_name: NAME,
    token: z.string(),
    token_name: NAME,
    action: z.string(),
    subject: z.string(),
    subject_name: NAME,
    outcome: AuditOutcomeSchema,
    code: z.string().nullable().meta({ description: 'Error code if it was not done' }),
    detail: z.looseObject({}).meta({ description: 'What changed or was called; never a secret' }),
    shard: z.string(),
    seq: z
      .number()
      .int()
      .meta({ description: 'Its number in the chain; in a chunk, its place there' }),
    chunk: z.uuid().optional().meta({
      description: 'The chunk in which it is stored with other calls; its shard is `calls`',
    }),
    previous_hash: z.string().meta({ description: 'Hash of the previous row; zeros in a chunk' }),
    hash: z.string().meta({ description: 'Hash of the row, or of its chunk' }),
  })
  .meta({ id: 'AuditEvent' });

export const exampleEvent = {
  id: 'c0a8012e-7d57-4c9a-9f61-3c1f6a8f2b77',
  at: '2026-11-02T09:00:00.000Z',
  principal: 'setup-admin',
  principal_name: 'setup-admin',
  token: 'setup-admin',
  token_name: 'setup-admin',
  action: 'server.create',
  subject: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10',
  subject_name: 'github',
  outcome: 'done',
  code: null,
  detail: { name: 'github', transport_type: 'HTTP' },
  shard: 'admin',
  seq: 1,
  previous_hash: '0'.repeat(64),
  hash: '4c7f0f3b0e7d0c7b6a1f0b8f7b3c5d2e9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d',
};

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listAudit',
  tags,
  summary: 'Search the audit',
  description:
    'Newest first, page by page. A page that few of many calls match may have fewer rows than `limit`, or none, and yet a `next_cursor`. ' +
    OWN_ROWS,
  ...needs(AUDIT_SCOPE),
  request: {
    query: z.strictObject({
      ...pageQuery,
      ...filterQuery,
    }),
  },
  responses: responsesOf(
    200,
    'One page',
    z
      .object({
        events: z.array(EventSchema),
        next_cursor: z.string().optional().meta({ description: 'Present if there are more' }),
      })
      .meta({ id: 'AuditPage' }),
    { example: { events: [exampleEvent] } },
  ),
});

const verify = createRoute({
  method: 'get',
  path: `${PATH}/verify`,
  operationId: 'verifyAudit',
  tags,
  summary: 'Check the chain of the audit',
  description:
    'Each row carries the hash of the one before it. A long chain is checked in parts: go on with `from` set to `next_from`. ' +
    'The chain of calls (`calls`) consists of chunks of many calls, and its numbers count chunks. It, and the chains of single principals ' +
    '(`calls:{principal}`, where calls are recorded before they are sent), are compared with what their objects keep outside the database. ' +
    'Keep a copy of the `head` of the other chains elsewhere: somebody who can write the database could rewrite a whole chain.',
  ...needs('admin'),
  request: {
    query: z.strictObject({
      shard: z.string().min(1).max(120).default(ADMIN_SHARD),
      from: z.coerce.number().int().min(1).default(1).meta({ description: 'First row to check' }),
      limit: z.coerce.number().int().min(1).max(MAX_CHECKED).default(5000).meta({
        description: 'Most rows to check',
      }),
    }),
  },
  responses: responsesOf(
    200,
    'What was found',
    z
      .object({
        shard: z.string(),
        rows: z.number().int().meta({ description: 'How many rows were checked' }),
        is_intact: z.boolean(),
        first_broken_seq: z.number().int().optional().meta({
          description: 'The first row that is missing or was altered',
        }),
        next_from: z.number().int().optional().meta({ description: 'Present if there are more' }),
        head: z.object({ seq: z.number().int(), hash: z.string() }),
        pruned_to: z.number().int().meta({
          description: 'The last row that was deleted because of its age; 0 where none was',
        }),
      })
      .meta({ id: 'AuditVerification' }),
    {
      example: {
        shard: 'admin',
        rows: 1,
        is_intact: true,
        head: { seq: exampleEvent.seq, hash: exampleEvent.hash },
        pruned_to: 0,
      },
    },
  ),
});

const PositionSchema = z.tuple([z.number(), z.string(), z.number()]);

/** Adds the routes. */
export function registerAudit(api: Api, { audit }: ApiPorts): void {
  api.openapi(list, async context => {
    const { limit, cursor, ...query } = context.req.valid('query');
    const bound = ['audit', query];
    const after = await positionOf(bound, cursor, PositionSchema);
    const { caller } = context.var.snapshot;
    const page = await audit.list(caller, toQuery(query), 'newest', limit, after);
    const more = await nextOf(bound, page.next);
    return context.json({ events: page.items.map(toView), ...more }, 200);
  });
  api.openapi(verify, async context => {
    const { shard, from, limit } = context.req.valid('query');
    const found = await audit.verify(context.var.snapshot.caller, shard, from, limit);
    const { rows, isIntact, firstBrokenSeq, nextFrom, head, pruned } = found;
    return context.json(
      {
        shard,
        rows,
        is_intact: isIntact,
        ...(firstBrokenSeq === undefined ? {} : { first_broken_seq: firstBrokenSeq }),
        ...(nextFrom === undefined ? {} : { next_from: nextFrom }),
        head,
        pruned_to: pruned.seq,
      },
      200,
    );
  });
}

const toTime = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

/** Turns query parameters into an audit query. */
export function toQuery(query: z.infer<z.ZodObject<typeof filterQuery>>): AuditQuery {
  const { subject_prefix: subjectPrefix, since, until, ...rest } = query;
  return { ...rest, subjectPrefix, since: toTime(since), until: toTime(until) };
}

/** Turns an event into its view. */
export function toView({ principalName, tokenName, subjectName, ...event }: NamedEvent) {
  const { previousHash, principalId, tokenId, at, ...rest } = event;
  const who = { principal: principalId, token: tokenId };
  const names = {
    principal_name: principalName,
    token_name: tokenName,
    subject_name: subjectName,
  };
  return { ...rest, ...who, ...names, at: new Date(at).toISOString(), previous_hash: previousHash };
}
