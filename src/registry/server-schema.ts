/** A server: the registry record, its API forms and their validation. */
import { z } from 'zod';
import type { Era } from '../protocol.ts';

export const TransportTypeSchema = z.enum(['HTTP', 'SSE']);
export const ServerStatusSchema = z.enum([
  'CONNECTING',
  'CONNECTED',
  'DEGRADED',
  'DISCONNECTED',
  'ERROR',
]);

export type TransportType = z.infer<typeof TransportTypeSchema>;
export type ServerStatus = z.infer<typeof ServerStatusSchema>;

/** What negotiation with a server found; remembered per server and credential. */
export interface Verdict {
  era: Era;
  protocolVersion: string;
  /** `http` is Streamable HTTP, `sse` the deprecated HTTP+SSE transport. */
  transport: 'http' | 'sse';
  /** The server assigned a session id at `initialize`, so calls need one. */
  sessionful: boolean;
}

/** A registry record as the domain sees it. Headers are opened, never written out again. */
export interface Server {
  id: string;
  name: string;
  description: string;
  transportType: TransportType;
  url: string;
  headersSealed: string | null;
  healthCheckUrl: string | null;
  autoConnect: boolean;
  status: ServerStatus;
  lastError: string | null;
  verdict: Verdict | null;
  catalogHash: string | null;
  toolCount: number;
  /** Milliseconds since the epoch. */
  registeredAt: number;
  updatedAt: number;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** Headers that belong to the connection or to the protocol, never to a configuration. */
const RESERVED_HEADERS = new Set([
  'host',
  'content-length',
  'content-type',
  'accept',
  'connection',
  'transfer-encoding',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
]);

const HeadersSchema = z
  .record(z.string().regex(HEADER_NAME, 'is not a header name').max(128), z.string().max(8192))
  .refine(headers => Object.keys(headers).length <= 32, 'at most 32 headers')
  .refine(
    headers => Object.keys(headers).every(name => !RESERVED_HEADERS.has(name.toLowerCase())),
    'a header of the protocol cannot be set',
  )
  .refine(
    headers => Object.values(headers).every(value => HEADER_VALUE.test(value)),
    'a header value may hold visible ASCII characters only',
  );

/** Body of `POST /api/v1/aggregator/servers` (PRD AG-US1). */
export const CreateServerSchema = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/,
      'use 1 to 63 letters, digits, "-" or "_", starting with a letter or digit',
    ),
  description: z.string().max(2000).default(''),
  transport_type: TransportTypeSchema,
  connection_config: z.strictObject({
    url: z.string().max(2048),
    headers: HeadersSchema.optional(),
  }),
  auto_connect: z.boolean().default(true),
  health_check_url: z.string().max(2048).optional(),
});

export type CreateServer = z.infer<typeof CreateServerSchema>;

/** A server in an answer of the API. Credentials never appear. */
export const ServerViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: ServerStatusSchema,
  transport_type: TransportTypeSchema,
  connection_config: z.object({ url: z.string() }),
  auto_connect: z.boolean(),
  health_check_url: z.string().nullable(),
  tool_count: z.number().int(),
  last_error: z.string().nullable(),
  era: z.enum(['legacy', 'modern']).nullable(),
  protocol_version: z.string().nullable(),
  registered_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export type ServerView = z.infer<typeof ServerViewSchema>;

/** Project a record to its API form. */
export function toServerView(server: Server): ServerView {
  return {
    id: server.id,
    name: server.name,
    description: server.description,
    status: server.status,
    transport_type: server.transportType,
    connection_config: { url: server.url },
    auto_connect: server.autoConnect,
    health_check_url: server.healthCheckUrl,
    tool_count: server.toolCount,
    last_error: server.lastError,
    era: server.verdict?.era ?? null,
    protocol_version: server.verdict?.protocolVersion ?? null,
    registered_at: new Date(server.registeredAt).toISOString(),
    updated_at: new Date(server.updatedAt).toISOString(),
  };
}
