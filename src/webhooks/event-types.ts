/** The events that webhooks are told of. Pure. */
import { z } from 'zod';

/**
 * What happens: a tool or a server's instructions are held, a server fails, wants a valid credential or answers again, somebody signs in,
 * or is denied more calls within ten minutes than a webhook says, or calls more than a budget of the day has.
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

/** What a test sends. */
export const TEST_EVENT = 'webhook.test';

/** An event as it is stored. */
export interface WebhookEvent {
  type: string;
  /** Milliseconds since the epoch. */
  occurredAt: number;
  data: Record<string, unknown>;
}

/** A server in an event. */
const ServerSchema = z.object({ id: z.string(), name: z.string() });
/** Who signed in. */
const PrincipalSchema = z.object({ id: z.string(), name: z.string() });

/** What the data of events have, where they are made into a sentence. */
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
