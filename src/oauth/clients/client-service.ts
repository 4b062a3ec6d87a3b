/**
 * Clients for administrators: lists them, and creates clients for programs that neither have a document nor register themselves. A secret
 * is shown once, when the client is created. Deleting a client ends its grants.
 */
import { ALWAYS } from '../../audit/admin-audit.ts';
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import { whereEqual } from '../../records/record-store.ts';
import { createReadRecords, type ReadRecords } from '../../records/records.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Actor } from '../../shared/identity/principal.ts';
import type { ClientQuery, CreateClient, ShownClient } from './client-schema.ts';
import { createClientId, createClientSecret } from './client-secret.ts';
import { CLIENTS, insertClient } from './client-store.ts';
import { SECRET_METHODS } from './registration.ts';

export interface ClientRecordsPorts extends AccessPorts {
  keys: KeyRing;
  now(): number;
}

export interface ClientRecords extends ReadRecords<ShownClient, ClientQuery> {
  /** @returns the secret, undefined for a public client @throws PorticoError `forbidden` */
  create(
    caller: Actor,
    body: CreateClient,
  ): Promise<{ client: ShownClient; secret: string | undefined }>;
}

export function createClientRecords({
  db,
  adminAudit,
  onAccessChanged,
  keys,
  now,
}: ClientRecordsPorts): ClientRecords {
  const kind = {
    table: CLIENTS,
    noun: 'oauth_client',
    missing: 'No such client',
    onChanged: onAccessChanged,
    filter: ({ kind: came }: ClientQuery) => whereEqual({ kind: came }),
    toDeletionDetail: ({ name, kind: came }: ShownClient) => ({ name, kind: came }),
  };
  return {
    ...createReadRecords({ db, adminAudit }, kind),

    create(caller, { name, redirect_uris: uris, public: isPublic = false }) {
      const id = createClientId();
      const act = { action: 'oauth_client.create', subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const secret = isPublic ? undefined : await createClientSecret(keys);
        const redirectUris = [...new Set(uris)];
        const client = {
          id,
          kind: 'manual',
          name,
          redirectUris,
          authMethods: secret ? SECRET_METHODS : (['none'] as const),
          jwksUri: null,
          jwks: null,
          secretHmac: secret?.secretHmac ?? null,
          keyId: secret?.keyId ?? null,
          createdAt: now(),
          freshUntil: null,
        } as const;
        await commit({
          when: ALWAYS,
          statements: [insertClient(db, client, null)],
          detail: { name, redirect_uris: redirectUris, public: isPublic },
        });
        return { client: { ...client, lastUsedAt: null }, secret: secret?.value };
      });
    },
  };
}
