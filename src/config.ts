/**
 * The settings of a deployment. Only `parseConfig` reads them. It fails closed: a misspelt or invalid setting makes every request fail.
 * Pure, so the local host can check an environment before it starts anything.
 */
import { z } from 'zod';
import { ASK_SETTINGS, toAskSettings } from './agents/ask/ask-settings.ts';
import { CACHE_SETTINGS, toCacheSettings } from './gateway/cache/cache-settings.ts';
import { CHAT_SETTINGS, toChatSettings } from './agents/chat/chat-settings.ts';
import { HOST_SETTINGS, toHostSettings } from './http/host-settings.ts';
import type { Pace } from './servers/health/health-settings.ts';
import { nearestName } from './shared/util/nearest-name.ts';
import { LIMIT_SETTINGS, toByteLimits, toStreamLimits } from './shared/limits/limit-settings.ts';
import type { Limit } from './audit/limits/token-bucket.ts';
import { MODEL_SETTINGS, toModelSettings } from './models/model-settings.ts';
import { TELEMETRY_SETTINGS, toTelemetrySettings } from './telemetry/telemetry-settings.ts';
import { OTLP_SETTINGS, toOtlpSettings } from './tracing/otlp-settings.ts';

export type Config = ReturnType<typeof parseConfig>;

const milliseconds = (fallback: number) =>
  z.coerce.number().int().min(1).max(86_400_000).default(fallback);
const optionalMilliseconds = z.coerce.number().int().min(1).max(86_400_000).optional();
const bytes = (fallback: number) =>
  z.coerce.number().int().min(1024).max(67_108_864).default(fallback);

/** 0 means no limit. */
const calls = z.coerce.number().int().min(0).max(1_000_000).default(0);

/** Local rows should appear soon. On Cloudflare each hand-over costs a write, and work after a response may last half a minute. */
const GATHER_MS = { local: 1_000, production: 25_000 };

/** Local numbers should appear soon. On Cloudflare each report costs a request and a write. */
const REPORT_MS = { local: 2_000, production: 300_000 };

/** Default interval between two checks and between two discoveries of a server. */
const INTERVAL_MS = 30_000;
/** The default interval for a quiet server. On Cloudflare each alarm costs a request and a write. */
const QUIET_MS = { local: INTERVAL_MS, production: 300_000 };

/** An interval that was set explicitly is kept for quiet servers too. */
const toPace = (set: number | undefined, quietMs: number): Pace =>
  set === undefined
    ? { intervalMs: INTERVAL_MS, quietMs: Math.max(INTERVAL_MS, quietMs) }
    : { intervalMs: set, quietMs: set };

const toLimit = (perMinute: number, burst: number): Limit | undefined =>
  perMinute === 0 ? undefined : { perMinute, burst: burst || perMinute };

const SettingsSchema = z.object({
  ...HOST_SETTINGS,
  PORTICO_CALL_TIMEOUT_MS: milliseconds(30_000),
  PORTICO_QUESTION_TIMEOUT_MS: milliseconds(600_000),
  PORTICO_DISCOVERY_INTERVAL_MS: optionalMilliseconds,
  PORTICO_TOOL_APPROVAL: z.enum(['first', 'hold', 'trust']).default('first'),
  PORTICO_HEALTH_INTERVAL_MS: optionalMilliseconds,
  PORTICO_QUIET_INTERVAL_MS: optionalMilliseconds,
  PORTICO_CHANGE_STREAMS: z.enum(['held', 'polled']).optional(),
  PORTICO_REPORT_INTERVAL_MS: optionalMilliseconds,
  PORTICO_DRAIN_MS: milliseconds(30_000),
  PORTICO_FAILURE_THRESHOLD: z.coerce.number().int().min(1).max(100).default(3),
  PORTICO_CIRCUIT_FAILURES: z.coerce.number().int().min(1).max(1_000_000).default(5),
  PORTICO_DEGRADED_ERROR_RATE: z.coerce.number().gt(0).max(1).default(0.2),
  PORTICO_MAX_BODY_BYTES: bytes(4_194_304),
  PORTICO_MAX_JSON_DEPTH: z.coerce.number().int().min(16).max(512).default(128),
  PORTICO_MAX_JSON_MEMBERS: z.coerce.number().int().min(1_000).max(10_000_000).default(250_000),
  PORTICO_MAX_ANSWER_BYTES: bytes(16_777_216),
  PORTICO_SESSION_IDLE_MS: milliseconds(1_800_000),
  PORTICO_KEEP_ALIVE_MS: milliseconds(20_000),
  PORTICO_STANDING_STREAM_MS: milliseconds(250),
  PORTICO_REPLAY_EVENTS: z.coerce.number().int().min(1).max(10_000).default(256),
  PORTICO_REPLAY_BYTES: bytes(1_048_576),
  PORTICO_CONNECTOR_SERVERS: z.coerce.number().int().min(1).max(1_000).default(100),
  PORTICO_PAGE_SIZE: z.coerce.number().int().min(1).max(5_000).default(5_000),
  PORTICO_POSTURE: z.enum(['open', 'closed']).default('open'),
  PORTICO_NAME_STYLE: z.enum(['dot', 'colon', 'underscore']).default('dot'),
  PORTICO_TOOLS: z.enum(['all', 'search', 'ask', 'chat']).default('all'),
  PORTICO_LEARN_FROM_USE: z.enum(['on', 'off']).default('off'),
  PORTICO_AUDIT_CALLS: z.enum(['batched', 'durable', 'before', 'on', 'off']).default('batched'),
  PORTICO_AUDIT_GATHER_MS: z.coerce.number().int().min(1).max(25_000).optional(),
  PORTICO_AUDIT_DAYS: z.coerce.number().int().min(0).max(36_500).default(365),
  ...MODEL_SETTINGS,
  ...OTLP_SETTINGS,
  ...TELEMETRY_SETTINGS,
  ...CHAT_SETTINGS,
  ...ASK_SETTINGS,
  ...CACHE_SETTINGS,
  ...LIMIT_SETTINGS,
  PORTICO_RATE_LIMIT: calls,
  PORTICO_RATE_BURST: calls,
  PORTICO_SERVER_RATE_LIMIT: calls,
});

export const SETTING_NAMES: readonly string[] = [
  ...Object.keys(SettingsSchema.shape),
  'PORTICO_KEYS',
  'PORTICO_ADMIN_TOKEN',
];

/**
 * Refuses a misspelt setting, since ignoring it would leave the default in force, for `closed` as for a limit. A name that resembles no
 * setting passes, so that a deployment can go back to a version that does not know the setting yet.
 */
function refuseMisspelt(env: object): void {
  for (const name of Object.keys(env)) {
    if (!/^portico_/i.test(name) || SETTING_NAMES.includes(name)) continue;
    const meant = nearestName(name, SETTING_NAMES);
    if (meant) throw new Error(`Setting ${name} is not known; did you mean ${meant}?`);
  }
}

const parsed = new WeakMap<object, Config>();

/**
 * Returns the settings of an environment. They are checked once, since the many objects of an isolate share them. @throws Error as
 * `parseConfig`
 */
export function configOf(env: object): Config {
  const config = parsed.get(env) ?? parseConfig(env);
  parsed.set(env, config);
  return config;
}

const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === '';

/**
 * Checks the settings of an environment.
 * @param env bindings and settings; anything that is not a setting is ignored
 * @throws Error that names the invalid setting
 */
export function parseConfig(env: object) {
  refuseMisspelt(env);
  const read = SettingsSchema.safeParse(env);
  if (!read.success) {
    const issue = read.error.issues[0];
    throw new Error(`Setting ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const settings = read.data;
  // An empty text would count as 0, which for some settings means without a limit, or for ever.
  const empty = Object.keys(settings).find(
    name => typeof Reflect.get(settings, name) === 'number' && isBlank(Reflect.get(env, name)),
  );
  if (empty !== undefined) throw new Error(`Setting ${empty}: must be a number, and is empty`);
  const host = toHostSettings(settings);
  const isOneMachine = host.mode !== 'production';
  const place = isOneMachine ? 'local' : 'production';
  const quietMs = settings.PORTICO_QUIET_INTERVAL_MS ?? QUIET_MS[place];
  const streams = settings.PORTICO_CHANGE_STREAMS ?? (isOneMachine ? 'held' : 'polled');
  return {
    ...host,
    /** Timeout of one call to an upstream, in milliseconds. */
    callTimeoutMs: settings.PORTICO_CALL_TIMEOUT_MS,
    /** Longest time a server request waits for the client's answer, in milliseconds. */
    questionTimeoutMs: settings.PORTICO_QUESTION_TIMEOUT_MS,
    /** How often the lists of a connected server are discovered. */
    discovery: toPace(settings.PORTICO_DISCOVERY_INTERVAL_MS, quietMs),
    /** Keep servers' change streams open all the time, rather than only for resources that somebody subscribed to. */
    holdsChangeStreams: streams === 'held',
    /** Default tool-approval mode for servers that set none. */
    toolApproval: settings.PORTICO_TOOL_APPROVAL,
    /** Failures in a row, of calls and checks, that open a server's circuit. */
    circuitFailures: settings.PORTICO_CIRCUIT_FAILURES,
    /** Time that running calls get to finish when their server is disconnected, in milliseconds. */
    drainMs: settings.PORTICO_DRAIN_MS,
    /** Time between two reports of successful calls to a server's monitor, in milliseconds. */
    reportIntervalMs: settings.PORTICO_REPORT_INTERVAL_MS ?? REPORT_MS[place],
    /** Default health settings for servers that set none. */
    health: {
      ...toPace(settings.PORTICO_HEALTH_INTERVAL_MS, quietMs),
      failureThreshold: settings.PORTICO_FAILURE_THRESHOLD,
      degradedErrorRate: settings.PORTICO_DEGRADED_ERROR_RATE,
    },
    /** Largest request body, in bytes. */
    maxBodyBytes: settings.PORTICO_MAX_BODY_BYTES,
    /** Maximum nesting depth and number of members of a request body. */
    json: {
      maxDepth: settings.PORTICO_MAX_JSON_DEPTH,
      maxMembers: settings.PORTICO_MAX_JSON_MEMBERS,
    },
    /** Largest upstream response that is read, in bytes. */
    maxAnswerBytes: settings.PORTICO_MAX_ANSWER_BYTES,
    /** How many event streams may be open at once. */
    openStreams: toStreamLimits(settings),
    /** How many bytes of bodies and responses may be in memory at once. */
    bytesInFlight: toByteLimits(settings, isOneMachine),
    /** Maximum number of legacy sessions per principal. Opening one more ends the least recently used one. */
    principalSessions: settings.PORTICO_PRINCIPAL_SESSIONS,
    /** A legacy session without requests ends after this time, in milliseconds. */
    sessionIdleMs: settings.PORTICO_SESSION_IDLE_MS,
    /** Time between two keep-alive comments on an open stream, in milliseconds. */
    keepAliveMs: settings.PORTICO_KEEP_ALIVE_MS,
    /** How long after a call the notification stream of a legacy server's session stays open, in milliseconds. */
    notificationStreamMs: settings.PORTICO_STANDING_STREAM_MS,
    /** How much of a legacy session's stream is kept for a client that resumes it. */
    replay: {
      maxEvents: settings.PORTICO_REPLAY_EVENTS,
      maxBytes: settings.PORTICO_REPLAY_BYTES,
    },
    /** Maximum number of servers that one connector may register. */
    connectorServers: settings.PORTICO_CONNECTOR_SERVERS,
    /** Maximum number of items on one page of a list. */
    pageSize: settings.PORTICO_PAGE_SIZE,
    /** Default access, where no access rule matches. */
    defaultAccess: settings.PORTICO_POSTURE,
    /** Default naming style, where neither the URL nor a toolset sets one. */
    nameStyle: settings.PORTICO_NAME_STYLE,
    /** Which tools an endpoint lists by default, where neither the URL nor a toolset sets it. */
    tools: settings.PORTICO_TOOLS,
    /** Whether search learns from the calls that follow a search. */
    learnsFromUse: settings.PORTICO_LEARN_FROM_USE === 'on',
    /** Maximum age of the policy and registry rows on which a request is decided, in milliseconds. */
    snapshotMaxAgeMs: 1000,
    /** The same for list requests: a client that was just notified of a change must not get the old list. */
    listMaxAgeMs: 150,
    audit: {
      /** How calls are recorded (`gateway/call-log/call-log.ts`). */
      calls: settings.PORTICO_AUDIT_CALLS === 'on' ? 'batched' : settings.PORTICO_AUDIT_CALLS,
      /** Ended calls are gathered this long before they are written, in milliseconds. */
      gatherMs: settings.PORTICO_AUDIT_GATHER_MS ?? GATHER_MS[place],
      /** Days for which rows are kept; 0 keeps them for ever. */
      retentionDays: settings.PORTICO_AUDIT_DAYS,
    },
    /** Rate limits of one principal, in total and per server; undefined means no limit. */
    limits: {
      principal: toLimit(settings.PORTICO_RATE_LIMIT, settings.PORTICO_RATE_BURST),
      server: toLimit(settings.PORTICO_SERVER_RATE_LIMIT, 0),
    },
    /** Limits of an ask request. */
    ask: toAskSettings(settings),
    /** The language model, or undefined if none is set. */
    model: toModelSettings(settings, host.allowsLoopback),
    /** What chats may use, and how long they are kept. */
    chat: toChatSettings(settings),
    /** Limits of the result cache. */
    cache: toCacheSettings(settings),
    /** Where traces are sent; undefined if nowhere. */
    otlp: toOtlpSettings(settings, host.allowsLoopback),
    /** Which requests are traced and what is logged about them. */
    telemetry: toTelemetrySettings(settings, settings.PORTICO_OTLP_URL !== ''),
  };
}
