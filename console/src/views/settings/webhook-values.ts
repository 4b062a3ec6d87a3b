/** What is typed about a webhook, and the bodies of requests that are made of it. Pure. */
import type { CreateWebhook, UpdateWebhook, Webhook } from '../../generated/types.gen.ts';
import { changed } from '../../parts/rebase.ts';
import { EVENT_TYPES } from './webhook-words.ts';

export interface WebhookValues {
  name: string;
  format: NonNullable<CreateWebhook['format']>;
  /** Of one that is there: empty where it stays. */
  url: string;
  events: NonNullable<CreateWebhook['events']>;
  denials_over: string;
}

export const NEW: WebhookValues = {
  name: '',
  format: 'portico',
  url: '',
  events: EVENT_TYPES,
  denials_over: '20',
};

export const toValues = (webhook: Webhook): WebhookValues => ({
  name: webhook.name,
  format: webhook.format,
  url: '',
  // What another version tells of has no place in the form.
  events: EVENT_TYPES.filter(type => webhook.events.includes(type)),
  denials_over: String(webhook.denials_over),
});

/** What is shown where it is told of refused calls only, is sent then only. */
export const toCreate = ({ denials_over: over, ...values }: WebhookValues): CreateWebhook => ({
  ...values,
  name: values.name.trim(),
  url: values.url.trim(),
  ...(values.events.includes('denials.rate') ? { denials_over: Number(over) } : {}),
});

/** Only what is other than it was. */
export function toUpdate(before: WebhookValues, values: WebhookValues): UpdateWebhook {
  const is = toCreate(values);
  return Object.fromEntries(changed(toCreate(before), is).map(key => [key, is[key]]));
}
