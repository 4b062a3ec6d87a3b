/** The events that webhooks receive. Pure. */
import { z } from 'zod';

/**
 * A tool or a server's instructions are held; a server is down, needs a valid credential, or answers again; somebody signs in; a principal
 * has more calls denied within ten minutes than the webhook's limit; a principal or group reaches its daily budget of calls.
 */
export const EVENT_TYPES = [
  'tool.held',
  'server.down',
  'server.auth_required',
  'server.up',
  'sign_in',
  'denials.rate',
  'budget.reached',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Event type of a test. */
export const TEST_EVENT = 'webhook.test';

/** A stored event. */
export interface WebhookEvent {
  type: string;
  /** Milliseconds since the epoch. */
  occurredAt: number;
  data: Record<string, unknown>;
}

const ServerSchema = z.object({ id: z.string(), name: z.string() });
const PrincipalSchema = z.object({ id: z.string(), name: z.string() });

/** Members of an event's data that messages for people use. */
export const DataSchema = z.looseObject({
  server: ServerSchema.optional(),
  principal: PrincipalSchema.optional(),
  status: z.string().optional(),
  held: z.number().optional(),
  tools: z.array(z.looseObject({ kind: z.string(), name: z.string() })).optional(),
  by: z.string().optional(),
  denied: z.number().optional(),
  minutes: z.number().optional(),
  program: z.string().optional(),
  group: z.object({ name: z.string() }).optional(),
  calls_per_day: z.number().optional(),
});
