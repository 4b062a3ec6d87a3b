/** Deliveries, an event on its way to one webhook: stored rows and API views. */
import { z } from 'zod';
import { jsonOf } from '../records/record-schema.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A row of `webhook_deliveries`; times in milliseconds since the epoch. */
export const StoredDeliverySchema = z.object({
  seq: z.number(),
  id: z.string(),
  webhook_id: z.string(),
  type: z.string(),
  /** What the event is about; events of one subject are sent in order. */
  subject: z.string(),
  data: jsonOf(z.record(z.string(), z.unknown())),
  occurred_at: z.number(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.number(),
  next_at: z.number(),
  give_up_at: z.number(),
  status: z.number().nullable(),
  problem: z.string().nullable(),
  ended_at: z.number().nullable(),
});
export type StoredDelivery = z.infer<typeof StoredDeliverySchema>;

export const DeliveryViewSchema = z.object({
  id: z.string().meta({ description: 'The `webhook-id` it is sent with' }),
  type: z.string(),
  subject: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.number().int(),
  status: z.number().int().nullable().meta({ description: 'Status of the last answer' }),
  problem: z.string().nullable().meta({ description: 'Why the last try failed' }),
  occurred_at: z.iso.datetime(),
  next_at: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'When it is tried next; null once it has ended' }),
  ended_at: z.iso.datetime().nullable().meta({ description: 'When it was delivered or given up' }),
});

const toTime = (at: number | null) => (at === null ? null : new Date(at).toISOString());

/** Converts a delivery to its API view. */
export const toDeliveryView = (one: StoredDelivery): z.infer<typeof DeliveryViewSchema> => ({
  id: one.id,
  type: one.type,
  subject: one.subject,
  state: one.state,
  attempts: one.attempts,
  status: one.status,
  problem: one.problem,
  occurred_at: new Date(one.occurred_at).toISOString(),
  next_at: one.state === 'pending' ? toTime(one.next_at) : null,
  ended_at: toTime(one.ended_at),
});
