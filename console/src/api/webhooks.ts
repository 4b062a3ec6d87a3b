/** Webhooks: who is told of events, and what was sent to them. The secret of one is in the answer that made it, and nowhere else. */
import type {
  CreateWebhook,
  UpdateWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookPage,
  WebhookTest,
} from '../generated/types.gen.ts';
import { LIVE_MS } from './live.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

export const WEBHOOKS = ['webhooks'];
export const WEBHOOK_LIST = [...WEBHOOKS, 'list'];
const PATH = 'webhooks';

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** A webhook with its secret. */
export interface WithSecret {
  webhook: Webhook;
  secret: string;
}

export const webhooksQuery = () => paged<WebhookPage>(WEBHOOK_LIST, PATH, { every: LIVE_MS });

/** Where one is kept that was read. */
export const keyOf = (id: string) => [...WEBHOOKS, 'one', id];

/** Read one as it is now. */
export const readWebhook = (id: string) => request<Webhook>(pathOf(id));

export const webhookQuery = (id: string) => ({
  queryKey: keyOf(id),
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Webhook>(pathOf(id), { signal }),
  refetchInterval: LIVE_MS,
});

/** What was sent, the newest first. @param state empty: in any */
export const deliveriesQuery = (id: string, state: string) =>
  paged<WebhookDeliveryPage>([...WEBHOOKS, 'deliveries', id, state], `${pathOf(id)}/deliveries`, {
    query: { state },
    every: LIVE_MS,
  });

export const createWebhook = (body: CreateWebhook) =>
  request<WithSecret>(PATH, { method: 'POST', body });

/** Edit one. @throws ApiProblem 412 where it has another revision */
export const updateWebhook = (id: string, body: UpdateWebhook, revision: number) =>
  request<Webhook>(pathOf(id), { method: 'PATCH', body, revision });

export const deleteWebhook = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** Give it another secret; for a day what is sent is signed with both. */
export const rotateWebhook = (id: string) =>
  request<WithSecret>(`${pathOf(id)}/rotate`, { method: 'POST' });

/** Send it an event that says it is a test, once and at once. */
export const testWebhook = (id: string) =>
  request<WebhookTest>(`${pathOf(id)}/test`, { method: 'POST' });

/** Try an event again that was given up. */
export const retryDelivery = (webhook: string, id: string) =>
  request<WebhookDelivery>(`${pathOf(webhook)}/deliveries/${encodeURIComponent(id)}/retry`, {
    method: 'POST',
  });
