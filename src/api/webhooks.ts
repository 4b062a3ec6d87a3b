/** `/api/v1/webhooks`: where events are sent, and which deliveries were made or given up. */
import { z } from 'zod';
import {
  DELIVERY_STATES,
  DeliveryViewSchema,
  toDeliveryView,
} from '../webhooks/delivery-schema.ts';
import {
  CreateWebhookSchema,
  TestedSchema,
  toWebhookView,
  UpdateWebhookSchema,
  WebhookQuerySchema,
  WebhookViewSchema,
} from '../webhooks/webhook-schema.ts';
import { createRoute, idOf, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { nextOf, pageOf, pageQuery, positionOf } from './paging.ts';
import { registerCreate, registerEdits, registerList, registerOne } from './records.ts';

const PATH = '/api/v1/webhooks';
const tags = ['webhooks'];
const key = 'webhook, or its name';

const made = { name: 'on-call', format: 'portico', events: ['server.down', 'server.up'] };
const resource = {
  path: PATH,
  tag: 'webhooks',
  name: 'Webhook',
  noun: 'webhook',
  phrase: 'a webhook',
  key,
  view: WebhookViewSchema.meta({ id: 'Webhook' }),
  example: {
    id: '5a0f7c1e-3b2d-4e6f-8a9b-0c1d2e3f4a5b',
    ...made,
    origin: 'https://hooks.example.com',
    enabled: true,
    denials_over: 20,
    pending: 0,
    dead: 0,
    revision: 1,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  toView: toWebhookView,
  delete: { description: 'Events that wait for it are no longer sent.' },
};

const SecretSchema = z.object({ webhook: resource.view, secret: z.string() });
const withSecret = { webhook: resource.example, secret: 'whsec_…' };

const created = {
  schema: CreateWebhookSchema.meta({ id: 'CreateWebhook' }),
  example: { ...made, url: 'https://hooks.example.com/portico' },
  description:
    'Each request is signed according to Standard Webhooks, with the secret that is shown only in this answer.',
  answer: {
    description: 'The webhook and its secret',
    schema: SecretSchema,
    example: withSecret,
  },
};

const listed = {
  operationId: 'listWebhooks',
  summary: 'List webhooks',
  description: 'In the order of their names, page by page.',
  key: 'webhooks',
  page: 'WebhookPage',
  query: WebhookQuerySchema,
};

const patch = {
  schema: UpdateWebhookSchema.meta({ id: 'UpdateWebhook' }),
  example: { enabled: false },
  description:
    'Absent fields stay as they are. Waiting events go to the address that is set when they are sent.',
  problems: ['conflict'] as const,
};

const rotate = createRoute({
  method: 'post',
  path: `${PATH}/{id}/rotate`,
  operationId: 'rotateWebhook',
  tags,
  summary: 'Give a webhook a new secret',
  description: 'For a day each request is signed with both.',
  ...needs('admin'),
  request: { params: idOf(key) },
  errors: ['conflict'],
  responses: responsesOf(200, 'The webhook and its new secret', SecretSchema, {
    example: withSecret,
  }),
});

const test = createRoute({
  method: 'post',
  path: `${PATH}/{id}/test`,
  operationId: 'testWebhook',
  tags,
  summary: 'Send a test event to a webhook',
  description: 'It is sent at once and only once; the answer gives the outcome.',
  ...needs('admin'),
  request: { params: idOf(key) },
  errors: ['conflict'],
  responses: responsesOf(200, 'The outcome', TestedSchema.meta({ id: 'WebhookTest' }), {
    example: { delivered: true, status: 204, problem: null },
  }),
});

const delivery = {
  view: DeliveryViewSchema.meta({ id: 'WebhookDelivery' }),
  example: {
    id: 'msg_3f2c1b0a9d8e4c7ba6f50e1d2c3b4a59',
    type: 'server.down',
    subject: '0b9d4c5e-6f70-4a81-92b3-c4d5e6f70819',
    state: 'dead',
    attempts: 16,
    status: 503,
    problem: 'it answered 503',
    occurred_at: '2026-11-02T09:00:00.000Z',
    next_at: null,
    ended_at: '2026-11-03T09:00:00.000Z',
  },
};

const deliveries = createRoute({
  method: 'get',
  path: `${PATH}/{id}/deliveries`,
  operationId: 'listWebhookDeliveries',
  tags,
  summary: 'List the deliveries of a webhook',
  description:
    'Sent, waiting and given up, newest first, page by page. Those that ended are kept for 30 days, the last thousand at most.',
  ...needs('admin'),
  request: {
    params: idOf(key),
    query: z.strictObject({ ...pageQuery, state: z.enum(DELIVERY_STATES).optional() }),
  },
  responses: responsesOf(
    200,
    'One page',
    pageOf('deliveries', delivery.view, 'WebhookDeliveryPage'),
    { example: { deliveries: [delivery.example], total: 1 } },
  ),
});

const retry = createRoute({
  method: 'post',
  path: `${PATH}/{id}/deliveries/{delivery}/retry`,
  operationId: 'retryWebhookDelivery',
  tags,
  summary: 'Send an event that was given up again',
  description: 'It is tried for another day, before other waiting events of its subject.',
  ...needs('admin'),
  request: {
    params: idOf(key).extend({
      delivery: z.string().max(100).meta({ description: 'Id of the delivery' }),
    }),
  },
  errors: ['conflict'],
  responses: responsesOf(200, 'It waits', delivery.view, {
    example: { ...delivery.example, state: 'pending', attempts: 0, ended_at: null },
  }),
});

const PositionSchema = z.tuple([z.number()]);

/** Adds the routes. */
export function registerWebhooks(api: Api, { webhooks }: ApiPorts): void {
  registerCreate(api, resource, created, async (body, { caller }) => {
    const { webhook, secret } = await webhooks.create(caller, body);
    return { record: webhook, shown: { webhook: toWebhookView(webhook), secret } };
  });
  registerList(api, resource, listed, webhooks);
  registerOne(api, resource, webhooks);
  registerEdits(api, resource, patch, webhooks);

  api.openapi(rotate, async context => {
    const { caller } = context.var.snapshot;
    const { webhook, secret } = await webhooks.rotate(caller, context.req.valid('param').id);
    return context.json({ webhook: toWebhookView(webhook), secret }, 200);
  });

  api.openapi(test, async context => {
    const { caller } = context.var.snapshot;
    const { isDelivered, status, problem } = await webhooks.test(
      caller,
      context.req.valid('param').id,
    );
    return context.json({ delivered: isDelivered, status, problem }, 200);
  });

  api.openapi(deliveries, async context => {
    const { caller } = context.var.snapshot;
    const { id } = context.req.valid('param');
    const { limit, cursor, state } = context.req.valid('query');
    const bound = [PATH, id, state];
    const [before] = (await positionOf(bound, cursor, PositionSchema)) ?? [];
    const found = await webhooks.deliveries(caller, id, state, limit, before);
    const more = await nextOf(bound, found.next);
    const shown = found.items.map(toDeliveryView);
    return context.json({ deliveries: shown, ...more, total: found.total }, 200);
  });

  api.openapi(retry, async context => {
    const { caller } = context.var.snapshot;
    const { id, delivery: deliveryId } = context.req.valid('param');
    return context.json(toDeliveryView(await webhooks.retry(caller, id, deliveryId)), 200);
  });
}
