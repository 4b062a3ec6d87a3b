/** Webhooks, and their deliveries. A webhook's secret is only in the response that created it. */
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

export interface WithSecret {
  webhook: Webhook;
  secret: string;
}

export const webhooksQuery = () => paged<WebhookPage>(WEBHOOK_LIST, PATH, { every: LIVE_MS });

/** The query key of one webhook. */
export const keyOf = (id: string) => [...WEBHOOKS, 'one', id];

/** Reads the current state of a webhook. */
export const readWebhook = (id: string) => request<Webhook>(pathOf(id));

export const webhookQuery = (id: string) => ({
  queryKey: keyOf(id),
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Webhook>(pathOf(id), { signal }),
  refetchInterval: LIVE_MS,
});

/** Lists deliveries, the newest first. @param state empty: any */
export const deliveriesQuery = (id: string, state: string) =>
  paged<WebhookDeliveryPage>([...WEBHOOKS, 'deliveries', id, state], `${pathOf(id)}/deliveries`, {
    query: { state },
    every: LIVE_MS,
  });

export const createWebhook = (body: CreateWebhook) =>
  request<WithSecret>(PATH, { method: 'POST', body });

/** Edits a webhook. @throws ApiProblem 412 where it has another revision */
export const updateWebhook = (id: string, body: UpdateWebhook, revision: number) =>
  request<Webhook>(pathOf(id), { method: 'PATCH', body, revision });

export const deleteWebhook = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** Gives a webhook a new secret; for a day, requests are signed with both. */
export const rotateWebhook = (id: string) =>
  request<WithSecret>(`${pathOf(id)}/rotate`, { method: 'POST' });

/** Sends a test event to a webhook, once and without delay. */
export const testWebhook = (id: string) =>
  request<WebhookTest>(`${pathOf(id)}/test`, { method: 'POST' });

/** Retries a delivery that was given up. */
export const retryDelivery = (webhook: string, id: string) =>
  request<WebhookDelivery>(`${pathOf(webhook)}/deliveries/${encodeURIComponent(id)}/retry`, {
    method: 'POST',
  });
