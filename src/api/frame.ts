/**
 * What every API route file shares: its ports, its frame type, and how a route describes its responses in the OpenAPI document: the success
 * with headers and an example, and each problem by status with its possible codes.
 */
import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import { z } from 'zod';
import type { FindOwnPrincipal } from '../access/principals/own-principal.ts';
import type { Principals } from '../access/principals/principal-service.ts';
import type { Budgets } from '../access/budgets/budget-service.ts';
import type { Rules } from '../access/rules/rule-service.ts';
import type { Snapshot, Snapshots } from '../access/admission/snapshots.ts';
import type { ExplainService } from '../gateway/explain/explain-service.ts';
import type { PreviewService } from '../gateway/explain/preview-service.ts';
import type { ClientRecords } from '../oauth/clients/client-service.ts';
import type { Grants } from '../oauth/grants/grant-service.ts';
import type { Tokens } from '../access/tokens/token-service.ts';
import type { Scope } from '../shared/identity/principal.ts';
import type { Toolsets } from '../access/toolsets/toolset-service.ts';
import type { Allowlist } from '../agents/ask/allowlist-service.ts';
import type { AskService } from '../agents/ask/ask-service.ts';
import type { AuditService } from '../audit/audit-service.ts';
import type { UsageService as CallUsage } from '../audit/usage/usage-service.ts';
import type { ChatService } from '../agents/chat/chat-service.ts';
import type { CacheRules } from '../servers/cache-rules/cache-rule-service.ts';
import type { StoredConnector } from '../servers/connectors/connector-schema.ts';
import type { ConnectorServers } from '../servers/connectors/connector-servers.ts';
import type { Connectors } from '../servers/connectors/connector-service.ts';
import type { Config } from '../config.ts';
import { errorEntry, type ErrorCode } from '../shared/errors/table.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { HealthService } from '../servers/health/health-service.ts';
import type { Drain } from '../http/drain.ts';
import type { BytesInFlight, RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import type { ApprovalService } from '../servers/approvals/approval-service.ts';
import type { ImportService } from '../servers/transfer/import-service.ts';
import type { ServerService } from '../servers/registry/server-service.ts';
import type { StreamCount } from '../shared/limits/stream-count.ts';
import type { UsageService } from '../models/usage-service.ts';
import type { Rotation } from '../credentials/rotation.ts';
import type { Owners } from '../records/owners.ts';
import type { CorrectionService } from '../search/skills/correction-service.ts';
import type { LearningService } from '../search/learning/learning-service.ts';
import type { Skills } from '../search/skills/skill-service.ts';
import type { SuggestionService } from '../search/skills/suggestion-service.ts';
import type { SkillsOf } from '../servers/registry/tool-skills.ts';
import type { SecretService } from '../credentials/secret-service.ts';
import type { Invitations } from '../sign-in/invitation-service.ts';
import type { SignInRecords } from '../sign-in/create-sign-in.ts';
import type { Identities } from '../sign-in/identities/identity-service.ts';

import type { PasskeyRecords } from '../sign-in/passkeys/passkey-records.ts';
import type { Providers } from '../sign-in/providers/providers-service.ts';
import type { Accounts } from '../servers/accounts/account-service.ts';
import type { Operation } from '../telemetry/operation.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { Webhooks } from '../webhooks/webhook-service.ts';

export interface ApiPorts {
  config: Config;
  snapshots: Snapshots;
  gateway: Gateway;
  bytes: BytesInFlight;
  /** Absent where no host stops the gateway with a drain. */
  drain: Drain | undefined;
  servers: ServerService;
  connectors: Connectors;
  connectorServers: ConnectorServers;
  imports: ImportService;
  health: HealthService;
  /** The first migration that the database lacks. */
  missingMigration: { result(): Promise<string | undefined> };
  principals: Principals;
  findOwnPrincipal: FindOwnPrincipal;
  budgets: Budgets;
  approvals: ApprovalService;
  tokens: Tokens;
  invitations: Invitations;
  signInRecords: SignInRecords;
  grants: Grants;
  accounts: Accounts;
  clientRecords: ClientRecords;
  providers: Providers;
  identities: Identities;
  passkeyRecords: PasskeyRecords;
  explanations: ExplainService;
  previews: PreviewService;
  rules: Rules;
  cacheRules: CacheRules;
  toolsets: Toolsets;
  audit: AuditService;
  callUsage: CallUsage;
  secrets: SecretService;
  owners: Owners;
  rotation: Rotation;
  webhooks: Webhooks;
  learning: LearningService;
  skills: Skills;
  suggestions: SuggestionService;
  corrections: CorrectionService;
  skillsOf: SkillsOf;
  tracer: Tracer;
  telemetry: Pick<Telemetry, 'begin' | 'families'>;
  openStreams: Pick<StreamCount, 'all' | 'open'>;
  usage: UsageService;
  ask: AskService;
  askAllowlist: Allowlist;
  chats: ChatService;
}

export interface ApiEnv {
  /** The operation by which telemetry observes the request. */
  Bindings: { operation?: Operation };
  /** Each request has a snapshot or a connector, depending on its path. */
  Variables: { snapshot: Snapshot; connector?: StoredConnector; bytes: RequestBytes };
}

export type Api = OpenAPIHono<ApiEnv>;

/** Schema of a problem in the OpenAPI document (RFC 9457). */
export const ProblemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
    server: z
      .looseObject({ id: z.string(), name: z.string(), status: z.string() })
      .optional()
      .meta({ description: 'The server of the call, if its state is the problem' }),
    connect_url: z.string().optional().meta({
      description: 'Page on which to connect the account that is missing',
    }),
  })
  .meta({ description: 'What went wrong; `code` is stable' });

/** Codes that every route can return. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'unauthorized',
  'origin_refused',
  'busy',
  'internal',
  'migrations_pending',
  // For an invalid header or part of the path.
  'validation_failed',
];
/** Codes that any route with a body can return. */
const BODY_ERRORS: readonly ErrorCode[] = [
  'parse_error',
  'payload_too_large',
  'unsupported_media_type',
];

/** A route, and the codes that are not due to its scope, the id in its path or its body. */
type Declared<P extends string> = Omit<RouteConfig, 'path'> & {
  path: P;
  errors?: readonly ErrorCode[];
};

/** Declares a route, and its problems in the document. */
export function createRoute<P extends string, R extends Declared<P>>(declared: R): R {
  const { errors = [], ...route } = declared as Declared<P>;
  const { security, request } = route;
  const codes = new Set<ErrorCode>([
    ...COMMON_ERRORS,
    ...(security ? (['forbidden'] as const) : []),
    ...(request?.params ? (['not_found'] as const) : []),
    ...(request?.body ? BODY_ERRORS : []),
    ...errors,
  ]);
  const problems = Map.groupBy(codes, code => errorEntry(code).status);
  const responses = { ...route.responses };
  for (const [status, ofStatus] of problems) responses[status] = toProblem(ofStatus);
  return { ...route, responses } as R;
}

/** Declares the scope that a route needs, as the role of its security requirement in the document. */
export const needs = (scope: Scope) => ({ security: [{ bearer: [scope] }] });

/** Path parameter: the id of a record. */
export const idOf = (what: string, maxChars = 100) =>
  z.object({
    id: z
      .string()
      .max(maxChars)
      .meta({ description: `Id of the ${what}` }),
  });

/** Declares a required JSON body. */
export const bodyOf = <T extends z.ZodType>(schema: T, example: unknown) => ({
  required: true,
  content: { 'application/json': { schema, example } },
});

/** Declares a header of a response in the document. */
export const header = (description: string) => ({
  description,
  schema: { type: 'string' as const },
});

export const ETAG = { ETag: header('The revision of the record; send it as If-Match to edit it') };
export const LOCATION = { Location: header('Path of the new record') };

interface Answer {
  headers?: Record<string, ReturnType<typeof header>>;
  example?: unknown;
  /** Media type of the success, if not JSON. */
  type?: string;
  /** An example event, if the route can also respond with an event stream. */
  events?: string;
}

/** Returns the success of a route. */
export function responsesOf(
  status: number,
  description: string,
  schema?: z.ZodType,
  { headers, example, type = 'application/json', events }: Answer = {},
) {
  const media = schema && { schema, ...(example === undefined ? {} : { example }) };
  return {
    [status]: {
      description,
      ...(headers ? { headers } : {}),
      ...(media ? { content: { [type]: media, ...streamOf(events) } } : {}),
    },
  };
}

const streamOf = (example: string | undefined) =>
  example === undefined ? {} : { 'text/event-stream': { schema: z.string(), example } };

/** Returns a response for a problem with one of these codes, which share a status. */
function toProblem(codes: readonly ErrorCode[]) {
  const [first = 'internal'] = codes;
  const { status, title } = errorEntry(first);
  const headers = {
    ...(status === 401 ? { 'WWW-Authenticate': header('The challenge (RFC 6750)') } : {}),
    ...(status === 503 || status === 429
      ? { 'Retry-After': header('Seconds after which to try again, if known') }
      : {}),
  };
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { type: 'object' as const, properties: { code: { enum: [...codes] } } },
    ],
  };
  const example = { type: 'about:blank', title, status, code: first, detail: title };
  return {
    description: codes.map(code => errorEntry(code).title).join('; '),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: { 'application/problem+json': { schema, example } },
  };
}
