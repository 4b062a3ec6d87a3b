/**
 * The bindings and settings of a deployment. `parseConfig` is the one place that reads them; it
 * fails closed: a missing key ring or a setting that is not a number stops every request.
 */
import { z } from 'zod';
import type { ClientSession } from './session/client-session-object.ts';
import type { ServerMonitor } from './catalog/server-monitor-object.ts';

export interface Env {
  DB: D1Database;
  CATALOG: KVNamespace;
  CLIENT_SESSION: DurableObjectNamespace<ClientSession>;
  SERVER_MONITOR: DurableObjectNamespace<ServerMonitor>;
  /** `local` lets upstreams be on loopback over http; anything else is production. */
  PORTICO_MODE?: string;
  /** Key ring, JSON: see `secrets/key-ring.ts`. */
  PORTICO_KEYS?: string;
  /** The set-up admin token; absent where none is wanted. */
  PORTICO_ADMIN_TOKEN?: string;
  PORTICO_CALL_TIMEOUT_MS?: string;
  PORTICO_QUESTION_TIMEOUT_MS?: string;
  PORTICO_DISCOVERY_INTERVAL_MS?: string;
  PORTICO_MAX_BODY_BYTES?: string;
  PORTICO_MAX_ANSWER_BYTES?: string;
  PORTICO_SESSION_IDLE_MS?: string;
  PORTICO_KEEP_ALIVE_MS?: string;
  PORTICO_REPLAY_EVENTS?: string;
  PORTICO_REPLAY_BYTES?: string;
  PORTICO_ALLOWED_ORIGINS?: string;
}

export interface Config {
  /** Upstreams on loopback over plain http are allowed. */
  readonly localMode: boolean;
  /** Longest time of one call of an upstream, in milliseconds. */
  readonly callTimeoutMs: number;
  /** Longest time a server's question to a client waits for its answer, in milliseconds. */
  readonly questionTimeoutMs: number;
  /** Time between two discoveries of a connected server, in milliseconds. */
  readonly discoveryIntervalMs: number;
  /** Largest request body, in bytes. */
  readonly maxBodyBytes: number;
  /** Largest answer of an upstream that is read, in bytes. */
  readonly maxAnswerBytes: number;
  /** A legacy session ends after this time without a request, in milliseconds. */
  readonly sessionIdleMs: number;
  /** Time between two comments that keep an open stream alive, in milliseconds. */
  readonly keepAliveMs: number;
  /** How much of a legacy session's stream is kept for a client that resumes. */
  readonly replay: { readonly maxEvents: number; readonly maxBytes: number };
  /** Most tools on one page of `tools/list`. */
  readonly pageSize: number;
  /** Oldest policy or registry row a request is decided on, in milliseconds. */
  readonly snapshotMaxAgeMs: number;
  /** The same for a request that lists: who was just told of a change must not see the old list. */
  readonly listMaxAgeMs: number;
  /** Origins of browsers that may call, beside the gateway's own. */
  readonly allowedOrigins: readonly string[];
}

const milliseconds = (fallback: number) =>
  z.coerce.number().int().min(1).max(86_400_000).default(fallback);
const bytes = (fallback: number) =>
  z.coerce.number().int().min(1024).max(67_108_864).default(fallback);

const SettingsSchema = z.object({
  PORTICO_MODE: z.enum(['local', 'production']).default('production'),
  PORTICO_CALL_TIMEOUT_MS: milliseconds(30_000),
  PORTICO_QUESTION_TIMEOUT_MS: milliseconds(600_000),
  PORTICO_DISCOVERY_INTERVAL_MS: milliseconds(30_000),
  PORTICO_MAX_BODY_BYTES: bytes(4_194_304),
  PORTICO_MAX_ANSWER_BYTES: bytes(16_777_216),
  PORTICO_SESSION_IDLE_MS: milliseconds(1_800_000),
  PORTICO_KEEP_ALIVE_MS: milliseconds(20_000),
  PORTICO_REPLAY_EVENTS: z.coerce.number().int().min(1).max(10_000).default(256),
  PORTICO_REPLAY_BYTES: bytes(1_048_576),
  PORTICO_ALLOWED_ORIGINS: z.string().default(''),
});

/**
 * Check the settings of an environment.
 * @throws Error that names the setting that is not right
 */
export function parseConfig(env: Env): Config {
  const parsed = SettingsSchema.safeParse(env);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(`Setting ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const settings = parsed.data;
  return {
    localMode: settings.PORTICO_MODE === 'local',
    callTimeoutMs: settings.PORTICO_CALL_TIMEOUT_MS,
    questionTimeoutMs: settings.PORTICO_QUESTION_TIMEOUT_MS,
    discoveryIntervalMs: settings.PORTICO_DISCOVERY_INTERVAL_MS,
    maxBodyBytes: settings.PORTICO_MAX_BODY_BYTES,
    maxAnswerBytes: settings.PORTICO_MAX_ANSWER_BYTES,
    sessionIdleMs: settings.PORTICO_SESSION_IDLE_MS,
    keepAliveMs: settings.PORTICO_KEEP_ALIVE_MS,
    replay: {
      maxEvents: settings.PORTICO_REPLAY_EVENTS,
      maxBytes: settings.PORTICO_REPLAY_BYTES,
    },
    pageSize: 1000,
    snapshotMaxAgeMs: 1000,
    listMaxAgeMs: 150,
    allowedOrigins: settings.PORTICO_ALLOWED_ORIGINS.split(',').filter(origin => origin !== ''),
  };
}
