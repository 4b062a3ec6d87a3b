/** Settings of a deployment that limit its chats: what a run may use, when a person is asked, and what is kept for how long. */
import { z } from 'zod';

/** When a person is asked before a call, least strict first. */
export const APPROVALS = ['never', 'writes', 'always'] as const;
export type Approval = (typeof APPROVALS)[number];

/** What a run may use. A run is everything that one message causes, across approvals and resumptions. */
export interface Limits {
  /** Questions to the model. */
  readonly steps: number;
  /** Calls of tools, including those that turn out to be impossible. */
  readonly calls: number;
  /** Tokens of all questions and answers. */
  readonly tokens: number;
  /** Seconds of activity; waiting for a person does not count. */
  readonly seconds: number;
  /** US dollars; undefined: no bound. */
  readonly costUsd: number | undefined;
}

export type ChatSettings = ReturnType<typeof toChatSettings>;

const count = (max: number, fallback: number) =>
  z.coerce.number().int().min(1).max(max).default(fallback);

/** The members of the settings' schema; no deployment can exceed the maxima here. */
export const CHAT_SETTINGS = {
  PORTICO_CHAT_STEPS: count(200, 16),
  PORTICO_CHAT_CALLS: count(1_000, 32),
  PORTICO_CHAT_TOKENS: count(100_000_000, 200_000),
  PORTICO_CHAT_SECONDS: count(3_600, 300),
  PORTICO_CHAT_COST: z.coerce.number().min(0).max(10_000).default(0),
  PORTICO_CHAT_APPROVAL: z.enum(APPROVALS).default('writes'),
  PORTICO_CHAT_HOURS: count(720, 24),
  PORTICO_CHAT_KEPT: count(1_000, 50),
};
const SettingsSchema = z.object(CHAT_SETTINGS);

/** The bounds of chats in a deployment. */
export const toChatSettings = (settings: z.infer<typeof SettingsSchema>) => ({
  /** The most that a run may use; a request may ask for less. */
  limits: {
    steps: settings.PORTICO_CHAT_STEPS,
    calls: settings.PORTICO_CHAT_CALLS,
    tokens: settings.PORTICO_CHAT_TOKENS,
    seconds: settings.PORTICO_CHAT_SECONDS,
    costUsd: settings.PORTICO_CHAT_COST === 0 ? undefined : settings.PORTICO_CHAT_COST,
  },
  /** A request may only be stricter. */
  approval: settings.PORTICO_CHAT_APPROVAL,
  /** How long a chat is kept after its last change, in milliseconds. */
  keptMs: settings.PORTICO_CHAT_HOURS * 3_600_000,
  /** Most chats kept for one principal; the oldest is deleted first. */
  maxKept: settings.PORTICO_CHAT_KEPT,
});
