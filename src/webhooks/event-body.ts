/**
 * Builds the body of an event. Names in it were chosen by servers and people, so each text is cut to one short line without invisible
 * characters. Pure.
 *
 * Source: Standard Webhooks 1.0, "Payload structure": `type`, `timestamp` and `data`.
 */
import { toOneLine } from '../shared/util/one-line.ts';
import type { WebhookEvent } from './event-types.ts';
import { toSlackMessage } from './slack.ts';
import type { WebhookFormat } from './webhook-schema.ts';

/** Longest text in an event, in characters. */
const MAX_TEXT_CHARS = 200;

/** Returns a copy in which every text is bounded and on one line. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return toOneLine(value, MAX_TEXT_CHARS);
  if (Array.isArray(value)) return value.map(bounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, bounded(one)]));
}

/** Returns the body as text. */
export function toBody(format: WebhookFormat, { type, occurredAt, data }: WebhookEvent): string {
  const event = {
    type,
    timestamp: new Date(occurredAt).toISOString(),
    data: bounded(data) as Record<string, unknown>,
  };
  return JSON.stringify(format === 'slack' ? toSlackMessage(event) : event);
}
