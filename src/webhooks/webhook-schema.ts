/** Webhooks: API bodies and views, and stored rows. */
import { z } from 'zod';
import {
  FlagSchema,
  jsonOf,
  namePartOf,
  STAMP_COLUMNS,
  STAMP_VIEW,
  toStampView,
} from '../records/record-schema.ts';
import { EVENT_TYPES } from './event-types.ts';

/** `portico`: type, timestamp and data. `slack`: a message for a Slack incoming webhook. */
export const FORMATS = ['portico', 'slack'] as const;
const FormatSchema = z.enum(FORMATS);
export type WebhookFormat = z.infer<typeof FormatSchema>;

const EventsSchema = z.array(z.enum(EVENT_TYPES));

/** A row of `webhooks`, with the numbers of its pending and dead deliveries; times in milliseconds since the epoch. */
export const StoredWebhookSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** Origin of its address; the rest is sealed, because for some receivers the address is the only credential. */
  origin: z.string(),
  sealed: z.string(),
  format: FormatSchema,
  // Another version may have stored other event types.
  events: jsonOf(z.array(z.string())),
  is_enabled: FlagSchema,
  /** A `denials.rate` event is sent if a principal has more denied calls than this within ten minutes. */
  denials_over: z.number(),
  ...STAMP_COLUMNS,
  pending: z.number(),
  dead: z.number(),
});
export type StoredWebhook = z.infer<typeof StoredWebhookSchema>;

const edited = {
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'use 1 to 63 letters, digits, ".", "-" or "_"')
    .meta({ description: 'What people call it; unique' }),
  url: z.string().min(1).max(2_000).meta({
    description: 'Where events are sent; only its origin is shown again',
  }),
  format: FormatSchema.meta({ description: '`slack` for an incoming webhook of Slack' }),
  events: EventsSchema.min(1)
    .transform(events => [...new Set(events)])
    .meta({ description: 'Types of the events that are sent to it' }),
  enabled: z.boolean().meta({ description: 'Whether events are sent to it' }),
  denials_over: z.number().int().min(1).max(1_000_000).meta({
    description: '`denials.rate`: more denied calls of one principal within ten minutes than this',
  }),
};

/** Body of `POST /api/v1/webhooks`. */
export const CreateWebhookSchema = z.strictObject({
  ...edited,
  format: edited.format.default('portico'),
  events: edited.events.default([...EVENT_TYPES]),
  enabled: edited.enabled.default(true),
  denials_over: edited.denials_over.default(20),
});
export type CreateWebhook = z.infer<typeof CreateWebhookSchema>;

/** Body of `PATCH /api/v1/webhooks/{id}`: absent members stay unchanged. */
export const UpdateWebhookSchema = z.strictObject(edited).partial();
export type UpdateWebhook = z.infer<typeof UpdateWebhookSchema>;

/** Filter of the list of webhooks. */
export const WebhookQuerySchema = z.strictObject({ name: namePartOf(63) });
export type WebhookQuery = z.infer<typeof WebhookQuerySchema>;

export const WebhookViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  origin: z.string().meta({ description: 'Origin of its address; the rest is never shown' }),
  format: FormatSchema,
  events: z.array(z.string()),
  enabled: z.boolean(),
  denials_over: z.number().int(),
  pending: z.number().int().meta({ description: 'Events that wait to be delivered' }),
  dead: z.number().int().meta({ description: 'Events that were given up and can be sent again' }),
  ...STAMP_VIEW,
});

/** Converts a webhook to its API view. */
export const toWebhookView = (webhook: StoredWebhook): z.infer<typeof WebhookViewSchema> => ({
  id: webhook.id,
  name: webhook.name,
  origin: webhook.origin,
  format: webhook.format,
  events: webhook.events,
  enabled: webhook.is_enabled,
  denials_over: webhook.denials_over,
  pending: webhook.pending,
  dead: webhook.dead,
  ...toStampView(webhook),
});

/** Result of a test. */
export const TestedSchema = z.object({
  delivered: z.boolean(),
  status: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'Status of the answer; null without one' }),
  problem: z.string().nullable(),
});
