/** Invitations: create, list, delete. A code is returned once, on creation, and signs its principal in once. */
import type { Actor } from '../shared/identity/principal.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { PRINCIPALS } from '../access/principals/principal-store.ts';
import { findRecord, insertRecord, whereEqual } from '../records/record-store.ts';
import { createReadRecords, type ReadRecords, type RecordPorts } from '../records/records.ts';
import type { CreateInvitation, Invitation, OfPrincipal } from './invitation-schema.ts';
import { createInvitationCode, toInvitationHmacs } from './invitation-code.ts';
import { INVITATIONS, MAX_INVITATIONS, sweepInvitations } from './invitation-store.ts';

export interface InvitationPorts extends RecordPorts {
  keys: KeyRing;
}

export interface Invitations extends ReadRecords<Invitation, OfPrincipal> {
  /** @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  create(caller: Actor, body: CreateInvitation): Promise<{ invitation: Invitation; code: string }>;
}

export function createInvitations({ db, adminAudit, keys }: InvitationPorts): Invitations {
  const kind = {
    table: INVITATIONS,
    noun: 'invitation',
    missing: 'No such invitation',
    filter: ({ principal }: OfPrincipal) => whereEqual({ principal_id: principal }),
    toDeletionDetail: ({ principal_id: principal }: Invitation) => ({ principal }),
  };
  return {
    ...createReadRecords({ db, adminAudit }, kind),

    create(caller, { principal: principalId, valid_seconds: seconds }) {
      const id = crypto.randomUUID();
      const act = { action: 'invitation.create', subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const principal = await findRecord(db, PRINCIPALS, principalId);
        if (!principal) throw fieldProblem('principal', 'there is no such principal');
        const code = createInvitationCode();
        const [hmac = ''] = await toInvitationHmacs(keys, code);
        const now = Date.now();
        const invitation: Invitation = {
          id,
          principal_id: principalId,
          principal_name: principal.name,
          created_at: now,
          expires_at: now + seconds * 1_000,
        };
        const when = INVITATIONS.whenPossible(invitation);
        const isDone = await commit({
          when,
          statements: [
            insertRecord(db, INVITATIONS, invitation, when, { hmac }),
            sweepInvitations(db, now),
          ],
          detail: { principal: principalId, expires_at: invitation.expires_at },
        });
        if (isDone) return { invitation, code };
        const problem = `There are ${MAX_INVITATIONS} invitations already, or the principal is gone`;
        throw new PorticoError('conflict', problem);
      });
    },
  };
}
