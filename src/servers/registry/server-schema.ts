/** A server: the registry record, its API forms and their validation. */
import { z } from 'zod';
import type { Era } from '../../shared/protocol.ts';
import {
  AuthSchema,
  AuthViewSchema,
  HeadersSchema,
  type Credential,
} from '../../credentials/credential-schema.ts';
import {
  AccountModeSchema,
  type AccountMode,
  type HeldAccount,
} from '../../shared/identity/account.ts';
import { DescriptionSchema } from '../../records/record-schema.ts';
import type { CacheRule } from '../cache-rules/cache-rule.ts';
import { ToolApprovalSchema, type ToolApproval } from './approval.ts';
import { parsePlace } from './connector-place.ts';
import { isOffered, ServerStatusSchema, type ServerStatus } from './status.ts';

/** Transports of servers on the network. */
export const NetworkTransportSchema = z.enum(['HTTP', 'SSE']);
export type NetworkTransport = z.infer<typeof NetworkTransportSchema>;
/** `STDIO` is a program behind a connector. */
export const TransportTypeSchema = z.enum([...NetworkTransportSchema.options, 'STDIO']);
export type TransportType = z.infer<typeof TransportTypeSchema>;

/** Accepts an enum value in any case, as people write it. */
export const inAnyCase = <T extends z.ZodType>(schema: T) =>
  z.preprocess(given => (typeof given === 'string' ? given.toUpperCase() : given), schema);

/** The negotiated protocol; remembered per server and credential. */
export interface ServerProtocol {
  era: Era;
  protocolVersion: string;
  /** `http` is Streamable HTTP, `sse` the deprecated HTTP+SSE transport. */
  transport: 'http' | 'sse';
  /** The server assigned a session id at `initialize`, so calls must carry one. */
  sessionful: boolean;
  /** How a modern server also speaks the legacy era; absent if it does not. */
  legacy?: Pick<ServerProtocol, 'protocolVersion' | 'sessionful'> | undefined;
  /**
   * For a modern server that serves a legacy client in the legacy era: its modern version, used when no session can be had. Never stored.
   */
  modernVersion?: string;
}

/** A registry record as the domain sees it. */
export interface Server {
  id: string;
  name: string;
  description: string;
  transportType: TransportType;
  url: string;
  credential: Credential;
  healthCheckUrl: string | null;
  autoConnect: boolean;
  /** Health settings of this server; the deployment's settings apply to absent ones. */
  healthSettings: HealthSettings;
  status: ServerStatus;
  lastError: string | null;
  verdict: ServerProtocol | null;
  catalogHash: string | null;
  toolCount: number;
  /** Milliseconds since the epoch. */
  registeredAt: number;
  updatedAt: number;
  /** When it was disconnected, while it is. */
  disconnectedAt: number | null;
  /** While its circuit is open: when the monitor tries it again. No call is sent until a trial succeeds. */
  circuitRetryAt: number | null;
  /** Whose account calls use. */
  accounts: AccountMode;
  /** The caller's own account, to which the credential belongs (`own-account.ts`). */
  account?: HeldAccount;
  /** The caller needs an account of its own and has none. */
  needsAccount?: true;
  /** How its tools are approved; null means the deployment's default. */
  toolApproval: ToolApproval | null;
  /** A new value after each write of its approvals; null before the first. */
  approvalsStamp: string | null;
  /** Number of tools that wait for a decision. */
  heldTools: number;
  /** Counts the writes of its tools' skills. */
  skillsRevision: number;
  /** Counts the edits of the taxonomy: the same for every server. */
  taxonomyRevision: number;
  /** Which of its tools may be answered from the result cache. */
  cacheRules: readonly CacheRule[];
  /** Counts edits; the ETag is made from it. */
  revision: number;
  /** Counts connects, disconnects and edits of the connection. Findings of an older generation are not written. */
  generation: number;
}

export const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

const NameSchema = z
  .string()
  .regex(SERVER_NAME, 'use 1 to 63 letters, digits, "-" or "_", starting with a letter or digit');
const AddressSchema = z.string().max(2048);

/** Health settings of one server that override the deployment's. */
export const HealthSettingsSchema = z.strictObject({
  interval_seconds: z.number().int().min(1).max(3600).optional(),
  /** Failed checks in a row that make the status ERROR. */
  failure_threshold: z.number().int().min(1).max(100).optional(),
  /** Share of failed calls that makes the status DEGRADED. */
  degraded_error_rate: z.number().gt(0).max(1).optional(),
});
export type HealthSettings = z.infer<typeof HealthSettingsSchema>;

const ApprovalSchema = ToolApprovalSchema.meta({
  description:
    'Which tools are approved without a person: `first` those of the first discovery, `hold` none, `trust` all; the others are held',
});

const AccountsSchema = AccountModeSchema.meta({
  description:
    'Whose account calls use: `shared` the one given here, `per_principal` that of each principal, `both` that of the principal if it has one',
});

/** Body of `POST /api/v1/aggregator/servers` (PRD AG-US1). */
export const CreateServerSchema = z.strictObject({
  name: NameSchema,
  description: DescriptionSchema.default(''),
  transport_type: inAnyCase(NetworkTransportSchema),
  connection_config: z.strictObject({
    url: AddressSchema,
    headers: HeadersSchema.optional(),
    auth: AuthSchema.optional(),
  }),
  auto_connect: z.boolean().default(true),
  health_check_url: AddressSchema.optional(),
  health_check: HealthSettingsSchema.optional(),
  tool_approval: ApprovalSchema.optional(),
  accounts: AccountsSchema.default('shared'),
});

export type CreateServer = z.infer<typeof CreateServerSchema>;

const NO_CONNECTOR =
  'a program is run by a connector: `portico connect --enroll NAME --config mcp.json` on its machine registers it';

const ProgramConfigSchema = z.strictObject({
  connector: z.string({ error: NO_CONNECTOR }).min(1).max(100).meta({
    description: 'Id or name of its connector; for STDIO only',
  }),
  server: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Its name on the machine of the connector' }),
});

/** The same body for a program on the machine of a connector. */
export const CreateStdioServerSchema = z.strictObject({
  ...CreateServerSchema.omit({ health_check_url: true }).shape,
  transport_type: z.literal('STDIO'),
  accounts: z
    .literal('shared', {
      error: 'must be shared: a program gets its credentials from the machine of its connector',
    })
    .default('shared'),
  connection_config: ProgramConfigSchema,
});

export type CreateStdioServer = z.infer<typeof CreateStdioServerSchema>;

/** Body of a registration with any transport. What it lacks for its transport is reported field by field. */
export const RegistrationSchema = z
  .strictObject({
    ...CreateServerSchema.shape,
    transport_type: inAnyCase(TransportTypeSchema),
    connection_config: z.looseObject({
      ...CreateServerSchema.shape.connection_config.partial().shape,
      ...ProgramConfigSchema.partial().shape,
    }),
  })
  .transform((body, context): CreateServer | CreateStdioServer => {
    const schema = body.transport_type === 'STDIO' ? CreateStdioServerSchema : CreateServerSchema;
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.addIssue({ ...issue, code: 'custom' });
    return z.NEVER;
  });

/**
 * Body of `PATCH /api/v1/aggregator/servers/{id}`: an absent field stays as it is, null clears it. A new origin in `url` drops the
 * credentials that were given for the old one.
 */
export const UpdateServerSchema = z.strictObject({
  name: NameSchema.optional(),
  description: DescriptionSchema.optional(),
  transport_type: inAnyCase(NetworkTransportSchema).optional(),
  connection_config: z
    .strictObject({
      url: AddressSchema.optional(),
      headers: HeadersSchema.nullable().optional(),
      auth: AuthSchema.nullable().optional(),
    })
    .optional(),
  auto_connect: z.boolean().optional(),
  health_check_url: AddressSchema.nullable().optional(),
  health_check: HealthSettingsSchema.nullable().optional(),
  tool_approval: ApprovalSchema.nullable().optional(),
  accounts: AccountsSchema.optional(),
});

export type UpdateServer = z.infer<typeof UpdateServerSchema>;

/** A server in an API response. It shows only header names and references to secrets of the credential. */
export const ServerViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: ServerStatusSchema,
  transport_type: TransportTypeSchema,
  connection_config: z.object({
    url: z.string(),
    headers: z.record(z.string(), z.string().nullable()),
    auth: AuthViewSchema.nullable(),
    connector: z.string().optional().meta({ description: 'Id of its connector; for STDIO only' }),
    server: z.string().optional().meta({ description: 'Its name on the machine of the connector' }),
  }),
  auto_connect: z.boolean(),
  health_check_url: z.string().nullable(),
  health_check: HealthSettingsSchema,
  tool_approval: ToolApprovalSchema.nullable(),
  accounts: AccountModeSchema,
  tool_count: z.number().int(),
  held_tools: z.number().int().meta({ description: 'Tools that wait for an approval' }),
  last_error: z.string().nullable(),
  era: z.enum(['legacy', 'modern']).nullable(),
  protocol_version: z.string().nullable(),
  registered_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  revision: z.number().int(),
});

export type ServerView = z.infer<typeof ServerViewSchema>;

/** Names the secrets that the server lacks. Only for administrators of the server: callers never see names of secrets. */
function missingSecrets({ credential: { view, secrets } }: Server): string | undefined {
  const named = [...view.secrets.headers, ...view.secrets.auth];
  const missing = named.filter(name => !secrets.some(secret => secret.name === name));
  return missing.length === 0 ? undefined : `missing secret ${[...new Set(missing)].join(', ')}`;
}

/** Converts a record to its API form. */
export function toServerView(server: Server): ServerView {
  const { headers, auth } = server.credential.view;
  const place = parsePlace(server.url);
  return {
    id: server.id,
    name: server.name,
    description: server.description,
    status: server.status,
    transport_type: server.transportType,
    connection_config: {
      url: server.url,
      headers,
      auth,
      ...(place ? { connector: place.connectorId, server: place.server } : {}),
    },
    auto_connect: server.autoConnect,
    health_check_url: server.healthCheckUrl,
    health_check: server.healthSettings,
    tool_approval: server.toolApproval,
    accounts: server.accounts,
    tool_count: isOffered(server.status) ? server.toolCount : 0,
    held_tools: server.heldTools,
    last_error: server.lastError === null ? null : (missingSecrets(server) ?? server.lastError),
    era: server.verdict?.era ?? null,
    protocol_version: server.verdict?.protocolVersion ?? null,
    registered_at: new Date(server.registeredAt).toISOString(),
    updated_at: new Date(server.updatedAt).toISOString(),
    revision: server.revision,
  };
}
