/** A connector: the stored record, its API forms and their validation, and the format of its token. */
import { z } from 'zod';
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import { DescriptionSchema, FlagSchema, type RecordScopes } from '../../records/record-schema.ts';
import { SERVER_NAME } from '../registry/server-schema.ts';

export const CONNECTOR_SCOPES: RecordScopes = { read: 'servers:read', write: 'servers:write' };

/** A row of `connectors`, without the HMAC of its device token; times in milliseconds since the epoch. */
export const StoredConnectorSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** Id of the key that the HMAC was made with. */
  key_id: z.string(),
  /** Its machine is connected. */
  is_connected: FlagSchema,
  created_at: z.number(),
  /** When its machine last connected or disconnected; null before the first time. */
  last_seen_at: z.number().nullable(),
  /** When its device token last replaced another one; 0 for the first token. */
  rotated_at: z.number(),
});
export type StoredConnector = z.infer<typeof StoredConnectorSchema>;

/** Body of `POST /api/v1/connectors`. */
export const CreateConnectorSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'use 1 to 63 letters, digits, ".", "-" or "_"')
    .meta({ description: 'What people call the machine; unique' }),
});
export type CreateConnector = z.infer<typeof CreateConnectorSchema>;

export const ConnectorViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(['CONNECTED', 'DISCONNECTED']),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'When it last connected or disconnected' }),
});
export type ConnectorView = z.infer<typeof ConnectorViewSchema>;

export function toConnectorView(connector: StoredConnector): ConnectorView {
  const { id, name, last_seen_at: lastSeenAt } = connector;
  return {
    id,
    name,
    status: connector.is_connected ? 'CONNECTED' : 'DISCONNECTED',
    created_at: new Date(connector.created_at).toISOString(),
    last_seen_at: lastSeenAt === null ? null : new Date(lastSeenAt).toISOString(),
  };
}

/** Maximum number of servers in one request: each needs several writes, and a request may make a thousand. */
export const MAX_OFFERS = 100;

/** Body of `PUT /api/v1/connectors/self/servers`. */
export const OffersSchema = z.strictObject({
  servers: z
    .array(
      z.strictObject({
        name: z.string().regex(SERVER_NAME, 'use 1 to 63 letters, digits, "-" or "_"').meta({
          description: 'Its name on the machine',
        }),
        description: DescriptionSchema.optional(),
      }),
    )
    .max(MAX_OFFERS),
});
export type OfferedServer = z.infer<typeof OffersSchema>['servers'][number];

/** Result of an offer. */
export const RegisteredSchema = z.object({
  name: z.string(),
  id: z.string().nullable(),
  registered_as: z.string().nullable().meta({ description: 'Its name in the registry' }),
  problem: z.string().nullable().meta({ description: 'Why it is not registered' }),
});
export type Registered = z.infer<typeof RegisteredSchema>;

const TOKEN_FORM = /^bearer +(portico_device_[A-Za-z0-9_-]{43})$/i;

/** Creates a device token: 256 random bits behind a prefix of its own, so that it cannot be mistaken for a caller's token. */
export function createDeviceToken(): string {
  return `portico_device_${toBase64Url(randomBytes(32))}`;
}

/** Reads the device token from an `Authorization` header; undefined if it holds none. */
export function parseDeviceToken(header: string | null | undefined): string | undefined {
  return header && header.length <= 200 ? TOKEN_FORM.exec(header)?.[1] : undefined;
}
