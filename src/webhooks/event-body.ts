/**
 * The body of an event as webhooks are sent it. Names in it were chosen by servers and people, so each text is one short line without
 * characters that cannot be seen. Pure.
 *
 * Source: Standard Webhooks 1.0, "Payload structure": `type`, `timestamp` and `data`.
 */
import { toOneLine } from '../shared/util/one-line.ts';
import type { WebhookEvent } from './event-types.ts';
import { toSlackMessage } from './slack.ts';
import type { WebhookFormat } from './webhook-schema.ts';

/** Longest text of an event, in characters. */
const MAX_TEXT_CHARS = 200;

/** The same with every text bounded and on one line. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return toOneLine(value, MAX_TEXT_CHARS);
  if (Array.isArray(value)) return value.map(bounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, bounded(one)]));
}

/** The text that is sent. */
export function toBody(format: WebhookFormat, { type, occurredAt, data }: WebhookEvent): string {
  const event = {
    type,
    timestamp: new Date(occurredAt).toISOString(),
    data: bounded(data) as Record<string, unknown>,
  };
  return JSON.stringify(format === 'slack' ? toSlackMessage(event) : event);
}
