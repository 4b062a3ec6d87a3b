/** The form values of a webhook, and the request bodies made from them. Pure. */
import type { CreateWebhook, UpdateWebhook, Webhook } from '../../generated/types.gen.ts';
import { changed } from '../../parts/rebase.ts';
import { EVENT_TYPES } from './webhook-words.ts';

export interface WebhookValues {
  name: string;
  format: NonNullable<CreateWebhook['format']>;
  /** For an existing webhook, empty keeps the current address. */
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
  // Event types of another version are not in the form.
  events: EVENT_TYPES.filter(type => webhook.events.includes(type)),
  denials_over: String(webhook.denials_over),
});

/** Sends the limit of denials only if that event is selected, as the form shows it only then. */
export const toCreate = ({ denials_over: over, ...values }: WebhookValues): CreateWebhook => ({
  ...values,
  name: values.name.trim(),
  url: values.url.trim(),
  ...(values.events.includes('denials.rate') ? { denials_over: Number(over) } : {}),
});

/** Only the changed fields. */
export function toUpdate(before: WebhookValues, values: WebhookValues): UpdateWebhook {
  const is = toCreate(values);
  return Object.fromEntries(changed(toCreate(before), is).map(key => [key, is[key]]));
}
