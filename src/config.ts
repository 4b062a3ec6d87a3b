/**
 * The settings of a deployment. `parseConfig` is the one place that reads them; it fails closed: a setting that is misspelt or not
 * right stops every request. Pure: the local host checks an environment with it before it starts anything.
 */
import { z } from 'zod';
import type { DefaultAccess } from './access/policy/rule.ts';
import type { ToolsShown } from './access/policy/toolset.ts';
import { ASK_SETTINGS, toAskSettings, type AskSettings } from './agents/ask/ask-settings.ts';
import {
  CACHE_SETTINGS,
  toCacheSettings,
  type CacheSettings,
} from './gateway/cache/cache-settings.ts';
import { CHAT_SETTINGS, toChatSettings, type ChatSettings } from './agents/chat/chat-settings.ts';
import { HOST_SETTINGS, toHostSettings, type HostSettings } from './http/host-settings.ts';
import type { NameStyle } from './shared/naming/qualified-name.ts';
import type { HealthDefaults, Pace } from './servers/health/health-settings.ts';
import type { JsonBounds } from './shared/json/json-spans.ts';
import { nearestName } from './shared/util/nearest-name.ts';
import {
  LIMIT_SETTINGS,
  toByteLimits,
  toStreamLimits,
  type ByteLimits,
  type StreamLimits,
} from './shared/limits/limit-settings.ts';
import type { Limit } from './audit/limits/token-bucket.ts';
import { MODEL_SETTINGS, toModelSettings, type ModelSettings } from './models/model-settings.ts';
import type { ToolApproval } from './servers/registry/approval.ts';
import {
  TELEMETRY_SETTINGS,
  toTelemetrySettings,
  type TelemetrySettings,
} from './telemetry/telemetry-settings.ts';
import { OTLP_SETTINGS, toOtlpSettings, type OtlpSettings } from './tracing/otlp-settings.ts';

export interface Config extends HostSettings {
  /** Longest time of one call of an upstream, in milliseconds. */
  readonly callTimeoutMs: number;
  /** Longest time a server's question to a client waits for its answer, in milliseconds. */
  readonly questionTimeoutMs: number;
  /** When the lists of a connected server are read again. */
  readonly discovery: Pace;
  /** Change streams of servers are held all the time, and not only for resources that somebody subscribed to. */
  readonly holdsChangeStreams: boolean;
  /** How the tools of a server are approved that does not say it. */
  readonly toolApproval: ToolApproval;
  /** Failures in a row, of calls and checks, after which no call is sent to a server for a while. */
  readonly circuitFailures: number;
  /** Time that calls under way have when their server is disconnected, in milliseconds. */
  readonly drainMs: number;
  /** Time between two reports of good calls to a server's monitor, in milliseconds. */
  readonly reportIntervalMs: number;
  /** How the health of a server is judged that has no settings of its own. */
  readonly health: HealthDefaults;
  /** Largest request body, in bytes. */
  readonly maxBodyBytes: number;
  /** How deep a request body may be nested, and how many members it may have. */
  readonly json: JsonBounds;
  /** Largest answer of an upstream that is read, in bytes. */
  readonly maxAnswerBytes: number;
  /** How much of bodies and answers may be in memory at once. */
  readonly bytesInFlight: ByteLimits;
  /** How many event streams may be open at once. */
  readonly openStreams: StreamLimits;
  /** Most legacy sessions of one principal; one more ends the one that was used longest ago. */
  readonly principalSessions: number;
  /** A legacy session ends after this time without a request, in milliseconds. */
  readonly sessionIdleMs: number;
  /** Time between two comments that keep an open stream alive, in milliseconds. */
  readonly keepAliveMs: number;
  /** The notification stream of a legacy server's session is held this long after a call, in milliseconds. */
  readonly standingStreamMs: number;
  /** How much of a legacy session's stream is kept for a client that resumes. */
  readonly replay: { readonly maxEvents: number; readonly maxBytes: number };
  /** Most items on one page of a list. */
  /** Most servers that one connector may have registered. */
  readonly connectorServers: number;
  readonly pageSize: number;
  /** What callers may do where no access rule says anything. */
  readonly posture: DefaultAccess;
  /** How names are written where neither the URL nor a toolset says. */
  readonly nameStyle: NameStyle;
  /** Which tools an endpoint lists where neither the URL nor a toolset says. */
  readonly tools: ToolsShown;
  /** Searches learn from what is called after them. */
  readonly learnsFromUse: boolean;
  /** Oldest policy or registry row a request is decided on, in milliseconds. */
  readonly snapshotMaxAgeMs: number;
  /** The same for a request that lists: who was just told of a change must not see the old list. */
  readonly listMaxAgeMs: number;
  readonly audit: {
    /** How calls are recorded (`gateway/call-log/call-log.ts`). */
    readonly calls: 'batched' | 'durable' | 'before' | 'off';
    /** Ended calls are gathered this long before they are handed over, in milliseconds. */
    readonly gatherMs: number;
    /** How many days rows are kept; 0 keeps them for ever. */
    readonly retentionDays: number;
  };
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
  /** Which requests are traced, and what the log says of them. */
  readonly telemetry: TelemetrySettings;
}

const milliseconds = (fallback: number) =>
  z.coerce.number().int().min(1).max(86_400_000).default(fallback);
const optionalMilliseconds = z.coerce.number().int().min(1).max(86_400_000).optional();
const bytes = (fallback: number) =>
  z.coerce.number().int().min(1024).max(67_108_864).default(fallback);

/** 0 is none. */
const calls = z.coerce.number().int().min(0).max(1_000_000).default(0);

/** Locally rows are to be there soon; on Cloudflare each hand-over costs a write, and work after a response may last half a minute. */
const GATHER_MS = { local: 1_000, production: 25_000 };

/** Locally numbers are to be there soon; on Cloudflare each report is a request and a write. */
const REPORT_MS = { local: 2_000, production: 300_000 };

/** Between two checks, and two looks at the lists, of a server that nobody set anything for. */
const INTERVAL_MS = 30_000;
/** The same where nothing happens at it. On Cloudflare each alarm is a request and a write. */
const QUIET_MS = { local: INTERVAL_MS, production: 300_000 };

/** An interval that somebody set is kept, however quiet it is. */
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

/** The name of every setting of the Worker. */
export const SETTING_NAMES: readonly string[] = [
  ...Object.keys(SettingsSchema.shape),
  'PORTICO_KEYS',
  'PORTICO_ADMIN_TOKEN',
];

/**
 * Refuse a misspelt setting: one that is not read would leave its default in force, be it `closed` or a limit. A name that is
 * like no other passes, so that a deployment can go back to a version that does not know it yet.
 */
function refuseMisspelt(env: object): void {
  for (const name of Object.keys(env)) {
    if (!/^portico_/i.test(name) || SETTING_NAMES.includes(name)) continue;
    const meant = nearestName(name, SETTING_NAMES);
    if (meant) throw new Error(`Setting ${name} is not known; did you mean ${meant}?`);
  }
}

const parsed = new WeakMap<object, Config>();

/** The settings of an environment, checked once: the many objects of an isolate have the same. @throws Error as `parseConfig` */
export function configOf(env: object): Config {
  const config = parsed.get(env) ?? parseConfig(env);
  parsed.set(env, config);
  return config;
}

/**
 * Check the settings of an environment.
 * @param env bindings and settings; what is no setting is not looked at
 * @throws Error that names the setting that is not right
 */
export function parseConfig(env: object): Config {
  refuseMisspelt(env);
  const read = SettingsSchema.safeParse(env);
  if (!read.success) {
    const issue = read.error.issues[0];
    throw new Error(`Setting ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const settings = read.data;
  const host = toHostSettings(settings);
  const isOneMachine = host.mode !== 'production';
  const place = isOneMachine ? 'local' : 'production';
  const quietMs = settings.PORTICO_QUIET_INTERVAL_MS ?? QUIET_MS[place];
  const streams = settings.PORTICO_CHANGE_STREAMS ?? (isOneMachine ? 'held' : 'polled');
  return {
    ...host,
    callTimeoutMs: settings.PORTICO_CALL_TIMEOUT_MS,
    questionTimeoutMs: settings.PORTICO_QUESTION_TIMEOUT_MS,
    discovery: toPace(settings.PORTICO_DISCOVERY_INTERVAL_MS, quietMs),
    holdsChangeStreams: streams === 'held',
    toolApproval: settings.PORTICO_TOOL_APPROVAL,
    circuitFailures: settings.PORTICO_CIRCUIT_FAILURES,
    drainMs: settings.PORTICO_DRAIN_MS,
    reportIntervalMs: settings.PORTICO_REPORT_INTERVAL_MS ?? REPORT_MS[place],
    health: {
      ...toPace(settings.PORTICO_HEALTH_INTERVAL_MS, quietMs),
      failureThreshold: settings.PORTICO_FAILURE_THRESHOLD,
      degradedErrorRate: settings.PORTICO_DEGRADED_ERROR_RATE,
    },
    maxBodyBytes: settings.PORTICO_MAX_BODY_BYTES,
    json: {
      maxDepth: settings.PORTICO_MAX_JSON_DEPTH,
      maxMembers: settings.PORTICO_MAX_JSON_MEMBERS,
    },
    maxAnswerBytes: settings.PORTICO_MAX_ANSWER_BYTES,
    openStreams: toStreamLimits(settings),
    bytesInFlight: toByteLimits(settings, isOneMachine),
    principalSessions: settings.PORTICO_PRINCIPAL_SESSIONS,
    sessionIdleMs: settings.PORTICO_SESSION_IDLE_MS,
    keepAliveMs: settings.PORTICO_KEEP_ALIVE_MS,
    standingStreamMs: settings.PORTICO_STANDING_STREAM_MS,
    replay: {
      maxEvents: settings.PORTICO_REPLAY_EVENTS,
      maxBytes: settings.PORTICO_REPLAY_BYTES,
    },
    connectorServers: settings.PORTICO_CONNECTOR_SERVERS,
    pageSize: settings.PORTICO_PAGE_SIZE,
    posture: settings.PORTICO_POSTURE,
    nameStyle: settings.PORTICO_NAME_STYLE,
    tools: settings.PORTICO_TOOLS,
    learnsFromUse: settings.PORTICO_LEARN_FROM_USE === 'on',
    snapshotMaxAgeMs: 1000,
    listMaxAgeMs: 150,
    audit: {
      calls: settings.PORTICO_AUDIT_CALLS === 'on' ? 'batched' : settings.PORTICO_AUDIT_CALLS,
      gatherMs: settings.PORTICO_AUDIT_GATHER_MS ?? GATHER_MS[place],
      retentionDays: settings.PORTICO_AUDIT_DAYS,
    },
    limits: {
      principal: toLimit(settings.PORTICO_RATE_LIMIT, settings.PORTICO_RATE_BURST),
      server: toLimit(settings.PORTICO_SERVER_RATE_LIMIT, 0),
    },
    ask: toAskSettings(settings),
    model: toModelSettings(settings, host.allowsLoopback),
    chat: toChatSettings(settings),
    cache: toCacheSettings(settings),
    otlp: toOtlpSettings(settings, host.allowsLoopback),
    telemetry: toTelemetrySettings(settings, settings.PORTICO_OTLP_URL !== ''),
  };
}
