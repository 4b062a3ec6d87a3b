/** Events and deliveries of webhooks in plain words. Pure. */
import type { CreateWebhook, WebhookDelivery } from '../../generated/types.gen.ts';

/** Address of the section. */
export const WEBHOOKS_PATH = '/settings?section=webhooks';

export type EventType = NonNullable<CreateWebhook['events']>[number];

export const EVENT_WORDS: Readonly<Record<EventType, string>> = {
  'tool.held': 'a tool is held',
  'server.down': 'a server fails',
  'server.auth_required': 'a server wants a credential',
  'server.up': 'a server answers again',
  sign_in: 'somebody signs in',
  'denials.rate': 'many calls of somebody are refused',
  'budget.reached': 'a budget is used up',
};
export const EVENT_TYPES = Object.keys(EVENT_WORDS) as EventType[];

/** An event type of another version has no words here. */
export const toWord = (event: string): string =>
  Object.hasOwn(EVENT_WORDS, event) ? EVENT_WORDS[event as EventType] : event;

export const toEventWords = (events: readonly string[]): string =>
  EVENT_TYPES.every(type => events.includes(type)) ? 'everything' : events.map(toWord).join(', ');

export const STATE_WORDS: Readonly<Record<WebhookDelivery['state'], string>> = {
  dead: 'given up',
  pending: 'waits',
  delivered: 'delivered',
};
