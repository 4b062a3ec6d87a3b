/** Identities for administrators: list, get, delete, and create for a person who is to sign in as an existing principal. */
import { PRINCIPALS } from '../../access/principals/principal-store.ts';
import { findRecord, whereEqual } from '../../records/record-store.ts';
import { createRecords, type RecordPorts, type Records } from '../../records/records.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { PROVIDERS } from '../providers/providers-store.ts';
import type { CreateIdentity, Identity, IdentityQuery } from './identity-schema.ts';
import { IDENTITIES } from './identity-store.ts';

/** Deleting an identity ends what came from it. A created one counts only after its owner's first sign-in. */
export type Identities = Records<Identity, CreateIdentity, IdentityQuery>;

export interface IdentitiesPorts extends RecordPorts {
  onAccessChanged(): Promise<void>;
}

export function createIdentities(ports: IdentitiesPorts): Identities {
  const { db, onAccessChanged } = ports;
  return createRecords<Identity, CreateIdentity, IdentityQuery>(ports, {
    table: IDENTITIES,
    noun: 'identity',
    missing: 'No such identity',
    filter: ({ principal, provider }) =>
      whereEqual({ principal_id: principal, provider_id: provider }),

    async make(body, _servers, { id, created_at: now }) {
      const provider = await findRecord(db, PROVIDERS, body.provider);
      if (!provider) throw fieldProblem('provider', 'there is no such provider');
      const principal = await findRecord(db, PRINCIPALS, body.principal);
      if (!principal) throw fieldProblem('principal', 'there is no such principal');
      return {
        id,
        issuer: provider.issuer,
        subject: body.subject,
        provider_id: provider.id,
        principal_id: principal.id,
        name: principal.name,
        email: null,
        groups: [],
        created_at: now,
        signed_in_at: 0,
        expires_at: now,
      };
    },

    whyNot: () => new PorticoError('conflict', 'Somebody has this identity already'),
    toDetail: ({ issuer, subject, principal_id: principal, provider_id: provider }) => ({
      issuer,
      subject,
      principal,
      provider,
    }),
    onChanged: () => onAccessChanged(),
  });
}
