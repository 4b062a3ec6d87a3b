/**
 * The bindings and settings of a deployment. `parseConfig` is the one place that reads them; it
 * fails closed: a missing key ring or a setting that is not a number stops every request.
 */
import { z } from 'zod';
import type { AccessNews } from './access/access-news-object.ts';
import {
  CACHE_SETTINGS,
  toCacheSettings,
  type CacheEnv,
  type CacheSettings,
} from './cache/cache-settings.ts';
import type { ResultCache } from './cache/result-cache-object.ts';
import type { Posture } from './access/rule.ts';
import type { ToolsShown } from './access/toolset.ts';
import { ASK_SETTINGS, toAskSettings, type AskEnv, type AskSettings } from './ask/ask-settings.ts';
import type { AuditLog } from './audit/audit-log-object.ts';
import {
  CHAT_SETTINGS,
  toChatSettings,
  type ChatEnv,
  type ChatSettings,
} from './chat/chat-settings.ts';
import type { Limit } from './limits/token-bucket.ts';
import type { Connector } from './connectors/connector-object.ts';
import type { ClientSession } from './session/client-session-object.ts';
import type { NameStyle } from './gateway/qualified-name.ts';
import type { ServerMonitor } from './catalog/server-monitor-object.ts';
import type { HealthDefaults } from './health/health-settings.ts';
import {
  MODEL_SETTINGS,
  toModelSettings,
  type ModelEnv,
  type ModelSettings,
} from './llm/model-settings.ts';
import {
  OTLP_SETTINGS,
  toOtlpSettings,
  type OtlpEnv,
  type OtlpSettings,
} from './telemetry/otlp-settings.ts';
import type { ToolApproval } from './pins/pin.ts';

export interface Env extends ModelEnv, OtlpEnv, ChatEnv, AskEnv, CacheEnv {
  DB: D1Database;
  CATALOG: KVNamespace;
  CLIENT_SESSION: DurableObjectNamespace<ClientSession>;
  SERVER_MONITOR: DurableObjectNamespace<ServerMonitor>;
  ACCESS_NEWS: DurableObjectNamespace<AccessNews>;
  AUDIT_LOG: DurableObjectNamespace<AuditLog>;
  CONNECTOR: DurableObjectNamespace<Connector>;
  RESULT_CACHE: DurableObjectNamespace<ResultCache>;
  /** Limits requests of one address before anything is known of them; absent where none is wanted. */
  SHIELD?: RateLimit;
  /** Static files of the deployment. */
  ASSETS: Fetcher;
  /** A folder of traces; the local host alone has one. */
  TRACES?: Fetcher;
  /** `local` lets upstreams be on loopback over http; anything else is production. */
  PORTICO_MODE?: string;
  /** Key ring, JSON: see `secrets/key-ring.ts`. */
  PORTICO_KEYS?: string;
  /** The set-up admin token; absent where none is wanted. */
  PORTICO_ADMIN_TOKEN?: string;
  PORTICO_CALL_TIMEOUT_MS?: string;
  PORTICO_QUESTION_TIMEOUT_MS?: string;
  PORTICO_DISCOVERY_INTERVAL_MS?: string;
  PORTICO_TOOL_APPROVAL?: string;
  PORTICO_HEALTH_INTERVAL_MS?: string;
  PORTICO_REPORT_INTERVAL_MS?: string;
  PORTICO_FAILURE_THRESHOLD?: string;
  PORTICO_DEGRADED_ERROR_RATE?: string;
  PORTICO_CIRCUIT_FAILURES?: string;
  PORTICO_DRAIN_MS?: string;
  PORTICO_MAX_BODY_BYTES?: string;
  PORTICO_MAX_ANSWER_BYTES?: string;
  PORTICO_SESSION_IDLE_MS?: string;
  PORTICO_KEEP_ALIVE_MS?: string;
  PORTICO_STANDING_STREAM_MS?: string;
  PORTICO_REPLAY_EVENTS?: string;
  PORTICO_REPLAY_BYTES?: string;
  PORTICO_PAGE_SIZE?: string;
  PORTICO_POSTURE?: string;
  PORTICO_NAME_STYLE?: string;
  PORTICO_TOOLS?: string;
  PORTICO_ALLOWED_ORIGINS?: string;
  PORTICO_AUDIT_CALLS?: string;
  PORTICO_AUDIT_DAYS?: string;
  PORTICO_RATE_LIMIT?: string;
  PORTICO_RATE_BURST?: string;
  PORTICO_SERVER_RATE_LIMIT?: string;
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
  /** How the tools of a server are approved that does not say it. */
  readonly toolApproval: ToolApproval;
  /** Failures in a row, of calls and checks, after which no call is sent to a server for a while. */
  readonly circuitFailures: number;
  /** Time that calls under way have when their server is disconnected, in milliseconds. */
  readonly drainMs: number;
  /** How long outcomes of calls are gathered before a server's monitor is told, in milliseconds. */
  readonly reportIntervalMs: number;
  /** How the health of a server is judged that has no settings of its own. */
  readonly health: HealthDefaults;
  /** Largest request body, in bytes. */
  readonly maxBodyBytes: number;
  /** Largest answer of an upstream that is read, in bytes. */
  readonly maxAnswerBytes: number;
  /** A legacy session ends after this time without a request, in milliseconds. */
  readonly sessionIdleMs: number;
  /** Time between two comments that keep an open stream alive, in milliseconds. */
  readonly keepAliveMs: number;
  /** The standing stream of a legacy server's session is held this long after a call, in milliseconds. */
  readonly standingStreamMs: number;
  /** How much of a legacy session's stream is kept for a client that resumes. */
  readonly replay: { readonly maxEvents: number; readonly maxBytes: number };
  /** Most items on one page of a list. */
  readonly pageSize: number;
  /** What callers may do where no access rule says anything. */
  readonly posture: Posture;
  /** How names are written where neither the URL nor a toolset says. */
  readonly nameStyle: NameStyle;
  /** Which tools an endpoint lists where neither the URL nor a toolset says. */
  readonly tools: ToolsShown;
  /** Oldest policy or registry row a request is decided on, in milliseconds. */
  readonly snapshotMaxAgeMs: number;
  /** The same for a request that lists: who was just told of a change must not see the old list. */
  readonly listMaxAgeMs: number;
  /** Whether calls are recorded, and how many days rows of the audit are kept; 0 keeps them for ever. */
  readonly audit: { readonly calls: boolean; readonly retentionDays: number };
  /** How many calls one principal may make, in all and at one server; undefined is no limit. */
  readonly limits: { readonly principal: Limit | undefined; readonly server: Limit | undefined };
  /** What bounds a request to ask. */
  readonly ask: AskSettings;
  /** The language model there is; undefined where there is none. */
  readonly model: ModelSettings | undefined;
  /** What chats may use, and how long they are kept. */
  readonly chat: ChatSettings;
  /** How much the cache of results may hold. */
  readonly cache: CacheSettings;
  /** Where traces are sent; undefined where nowhere. */
  readonly otlp: OtlpSettings | undefined;
  /** Origins of browsers that may call, beside the gateway's own. */
  readonly allowedOrigins: readonly string[];
}

const milliseconds = (fallback: number) =>
  z.coerce.number().int().min(1).max(86_400_000).default(fallback);
const bytes = (fallback: number) =>
  z.coerce.number().int().min(1024).max(67_108_864).default(fallback);

/** 0 is none. */
const calls = z.coerce.number().int().min(0).max(1_000_000).default(0);

const toLimit = (perMinute: number, burst: number): Limit | undefined =>
  perMinute === 0 ? undefined : { perMinute, burst: burst || perMinute };

const SettingsSchema = z.object({
  PORTICO_MODE: z.enum(['local', 'production']).default('production'),
  PORTICO_CALL_TIMEOUT_MS: milliseconds(30_000),
  PORTICO_QUESTION_TIMEOUT_MS: milliseconds(600_000),
  PORTICO_DISCOVERY_INTERVAL_MS: milliseconds(30_000),
  PORTICO_TOOL_APPROVAL: z.enum(['first', 'hold', 'trust']).default('first'),
  PORTICO_HEALTH_INTERVAL_MS: milliseconds(30_000),
  PORTICO_REPORT_INTERVAL_MS: milliseconds(2_000),
  PORTICO_DRAIN_MS: milliseconds(30_000),
  PORTICO_FAILURE_THRESHOLD: z.coerce.number().int().min(1).max(100).default(3),
  PORTICO_CIRCUIT_FAILURES: z.coerce.number().int().min(1).max(1_000_000).default(5),
  PORTICO_DEGRADED_ERROR_RATE: z.coerce.number().gt(0).max(1).default(0.2),
  PORTICO_MAX_BODY_BYTES: bytes(4_194_304),
  PORTICO_MAX_ANSWER_BYTES: bytes(16_777_216),
  PORTICO_SESSION_IDLE_MS: milliseconds(1_800_000),
  PORTICO_KEEP_ALIVE_MS: milliseconds(20_000),
  PORTICO_STANDING_STREAM_MS: milliseconds(20_000),
  PORTICO_REPLAY_EVENTS: z.coerce.number().int().min(1).max(10_000).default(256),
  PORTICO_REPLAY_BYTES: bytes(1_048_576),
  PORTICO_PAGE_SIZE: z.coerce.number().int().min(1).max(1_000).default(1_000),
  PORTICO_POSTURE: z.enum(['open', 'closed']).default('open'),
  PORTICO_NAME_STYLE: z.enum(['dot', 'colon', 'underscore']).default('dot'),
  PORTICO_TOOLS: z.enum(['all', 'search', 'ask', 'chat']).default('all'),
  PORTICO_ALLOWED_ORIGINS: z.string().default(''),
  PORTICO_AUDIT_CALLS: z.enum(['on', 'off']).default('on'),
  PORTICO_AUDIT_DAYS: z.coerce.number().int().min(0).max(36_500).default(365),
  ...MODEL_SETTINGS,
  ...OTLP_SETTINGS,
  ...CHAT_SETTINGS,
  ...ASK_SETTINGS,
  ...CACHE_SETTINGS,
  PORTICO_RATE_LIMIT: calls,
  PORTICO_RATE_BURST: calls,
  PORTICO_SERVER_RATE_LIMIT: calls,
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
    toolApproval: settings.PORTICO_TOOL_APPROVAL,
    circuitFailures: settings.PORTICO_CIRCUIT_FAILURES,
    drainMs: settings.PORTICO_DRAIN_MS,
    reportIntervalMs: settings.PORTICO_REPORT_INTERVAL_MS,
    health: {
      intervalMs: settings.PORTICO_HEALTH_INTERVAL_MS,
      failureThreshold: settings.PORTICO_FAILURE_THRESHOLD,
      degradedErrorRate: settings.PORTICO_DEGRADED_ERROR_RATE,
    },
    maxBodyBytes: settings.PORTICO_MAX_BODY_BYTES,
    maxAnswerBytes: settings.PORTICO_MAX_ANSWER_BYTES,
    sessionIdleMs: settings.PORTICO_SESSION_IDLE_MS,
    keepAliveMs: settings.PORTICO_KEEP_ALIVE_MS,
    standingStreamMs: settings.PORTICO_STANDING_STREAM_MS,
    replay: {
      maxEvents: settings.PORTICO_REPLAY_EVENTS,
      maxBytes: settings.PORTICO_REPLAY_BYTES,
    },
    pageSize: settings.PORTICO_PAGE_SIZE,
    posture: settings.PORTICO_POSTURE,
    nameStyle: settings.PORTICO_NAME_STYLE,
    tools: settings.PORTICO_TOOLS,
    snapshotMaxAgeMs: 1000,
    listMaxAgeMs: 150,
    audit: {
      calls: settings.PORTICO_AUDIT_CALLS === 'on',
      retentionDays: settings.PORTICO_AUDIT_DAYS,
    },
    limits: {
      principal: toLimit(settings.PORTICO_RATE_LIMIT, settings.PORTICO_RATE_BURST),
      server: toLimit(settings.PORTICO_SERVER_RATE_LIMIT, 0),
    },
    ask: toAskSettings(settings),
    model: toModelSettings(settings, settings.PORTICO_MODE === 'local'),
    chat: toChatSettings(settings),
    cache: toCacheSettings(settings),
    otlp: toOtlpSettings(settings, settings.PORTICO_MODE === 'local'),
    allowedOrigins: settings.PORTICO_ALLOWED_ORIGINS.split(',').filter(origin => origin !== ''),
  };
}
