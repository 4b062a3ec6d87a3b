/**
 * `/api/v1/approvals`: definitions of tools and instructions, the differences in held ones, and the decisions on them (SEC-7). Text written
 * by servers appears only in values.
 */
import { z } from 'zod';
import {
  ApproveSchema,
  DecidedSchema,
  ApprovalViewSchema,
  RejectSchema,
  toApprovalView,
  toWholeApprovalView,
  WholeApprovalViewSchema,
} from '../servers/approvals/approval-schema.ts';
import { APPROVAL_KINDS, APPROVAL_STATES, WAITING } from '../servers/registry/approval.ts';
import type { Decided } from '../servers/approvals/approval-service.ts';
import { exampleApproval } from './approval-examples.ts';
import { bodyOf, createRoute, idOf, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageQuery, positionOf } from './paging.ts';

const PATH = '/api/v1/approvals';
const tags = ['approvals'];

const list = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'listApprovals',
  tags,
  summary: 'List definitions that wait for an approval',
  description:
    'The last changed first, page by page. `state` selects definitions in other states. The list of one server has a `version`, which a decision about the whole list has to name; take it from the first page, and start again if a later page has another one.',
  ...needs('servers:read'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      server: z.string().max(100).optional().meta({ description: 'Id of a server' }),
      state: z
        .enum(['waiting', 'any', ...APPROVAL_STATES])
        .default('waiting')
        .meta({
          description: '`waiting` is pending, changed and quarantined',
        }),
      kind: z.enum(APPROVAL_KINDS).optional(),
    }),
  },
  errors: ['not_found'],
  responses: responsesOf(
    200,
    'One page',
    z
      .object({
        approvals: z.array(ApprovalViewSchema.meta({ id: 'Approval' })),
        next_cursor: z.string().optional().meta({ description: 'Present if there are more' }),
        total: z.number().int().meta({ description: 'How many match the filter' }),
        version: z.string().optional().meta({
          description:
            'Version of the list of the server that was asked for; each change gives another one',
        }),
      })
      .meta({ id: 'ApprovalPage' }),
    { example: { approvals: [exampleApproval.listed], total: 1 } },
  ),
});

const get = createRoute({
  method: 'get',
  path: `${PATH}/{id}`,
  operationId: 'getApproval',
  tags,
  summary: 'Get a definition and its differences from the approved one',
  ...needs('servers:read'),
  request: { params: idOf('approval') },
  responses: responsesOf(
    200,
    'Both definitions, and each field that differs',
    WholeApprovalViewSchema.meta({ id: 'WholeApproval' }),
    { example: exampleApproval.whole },
  ),
});

const approve = createRoute({
  method: 'post',
  path: `${PATH}/approve`,
  operationId: 'approve',
  tags,
  summary: 'Approve held definitions',
  description:
    'Give either `items`, each with the fingerprint that was reviewed, or a server with the `version` that was reviewed, for everything of the server that waits, except what is quarantined. All of it is approved, or nothing. A tool with a misleading name is approved alone, with `accept_quarantined`.',
  ...needs('servers:write'),
  request: {
    body: bodyOf(ApproveSchema.meta({ id: 'Approve' }), { items: [exampleApproval.item] }),
  },
  errors: ['not_found', 'conflict', 'precondition_failed'],
  responses: responsesOf(200, 'Approved; clients see it within a second or two', DecidedSchema, {
    example: exampleApproval.decided,
  }),
});

const reject = createRoute({
  method: 'post',
  path: `${PATH}/reject`,
  operationId: 'reject',
  tags,
  summary: 'Reject held definitions, or approved ones',
  description: 'Clients do not see a rejected definition, and it no longer waits until it changes.',
  ...needs('servers:write'),
  request: {
    body: bodyOf(RejectSchema.meta({ id: 'Reject' }), { items: [exampleApproval.item] }),
  },
  errors: ['not_found', 'precondition_failed'],
  responses: responsesOf(200, 'Rejected', DecidedSchema, { example: exampleApproval.decided }),
});

const PositionSchema = z.tuple([z.number(), z.string()]);

/** Adds the routes. */
export function registerApprovals(api: Api, { approvals }: ApiPorts): void {
  api.openapi(list, async context => {
    const { limit, cursor, ...query } = context.req.valid('query');
    const filter = { serverId: query.server, kind: query.kind, states: toStates(query.state) };
    const bound = ['approvals', query];
    const [changedAt, id] = (await positionOf(bound, cursor, PositionSchema)) ?? [];
    const after = changedAt === undefined || id === undefined ? undefined : { changedAt, id };
    const page = await approvals.list(context.var.snapshot.caller, filter, limit, after);
    const more = await nextOf(bound, page.next);
    const { total, version } = page;
    const shown = page.items.map(toApprovalView);
    return context.json(
      { approvals: shown, ...more, total, ...(version === undefined ? {} : { version }) },
      200,
    );
  });
  api.openapi(get, async context => {
    const { id } = context.req.valid('param');
    return context.json(
      toWholeApprovalView(await approvals.get(context.var.snapshot.caller, id)),
      200,
    );
  });
  api.openapi(approve, async context => {
    const { caller } = context.var.snapshot;
    return context.json(toView(await approvals.approve(caller, context.req.valid('json'))), 200);
  });
  api.openapi(reject, async context => {
    const { caller } = context.var.snapshot;
    return context.json(toView(await approvals.reject(caller, context.req.valid('json'))), 200);
  });
}

const toStates = (state: 'waiting' | 'any' | (typeof APPROVAL_STATES)[number]) => {
  if (state === 'any') return undefined;
  return state === 'waiting' ? WAITING : [state];
};

const toView = ({ decided, serverIds }: Decided) => ({ decided, server_ids: serverIds });
