/** The bindings and settings of a deployment, as the platform hands them over; `config.ts` checks the settings. */
import type { AccessNews } from './access/access-news-object.ts';
import type { AskEnv } from './ask/ask-settings.ts';
import type { AuditLog } from './audit/audit-log-object.ts';
import type { CacheEnv } from './cache/cache-settings.ts';
import type { ResultCache } from './cache/result-cache-object.ts';
import type { ServerMonitor } from './catalog/server-monitor-object.ts';
import type { ChatEnv } from './chat/chat-settings.ts';
import type { Connector } from './connectors/connector-object.ts';
import type { LimitEnv } from './limits/limit-settings.ts';
import type { ModelEnv } from './llm/model-settings.ts';
import type { ClientSession } from './session/client-session-object.ts';
import type { OtlpEnv } from './telemetry/otlp-settings.ts';

export interface Env extends ModelEnv, OtlpEnv, ChatEnv, AskEnv, CacheEnv, LimitEnv {
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
  /** With it the local host ends the gateway (`http/drain.ts`). */
  LOCAL_DRAIN_KEY?: string;
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
  PORTICO_MAX_JSON_DEPTH?: string;
  PORTICO_MAX_JSON_MEMBERS?: string;
  PORTICO_MAX_ANSWER_BYTES?: string;
  PORTICO_SESSION_IDLE_MS?: string;
  PORTICO_KEEP_ALIVE_MS?: string;
  PORTICO_STANDING_STREAM_MS?: string;
  PORTICO_REPLAY_EVENTS?: string;
  PORTICO_REPLAY_BYTES?: string;
  PORTICO_CONNECTOR_SERVERS?: string;
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
