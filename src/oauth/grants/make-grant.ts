/** Creates a grant from what a person allowed, with its audit row. It never exceeds what the person has. */
import { ALWAYS, type AdminAudit } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf } from '../../records/record-store.ts';
import { toOwnActor, boundScopes, type Scope } from '../../shared/identity/principal.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { SignedIn } from '../../sign-in/signed-in.ts';
import type { ExpectEvents } from '../../webhooks/expect-events.ts';
import { OAuthError } from '../oauth-error.ts';
import { LIFE } from './grant.ts';
import {
  insertGrant,
  limitGrants,
  sweepGrants,
  whenSignedIn,
  type Granted,
  type MadeGrant,
} from './grant-store.ts';

export interface MakeGrantPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  expectEvents: ExpectEvents;
  now(): number;
}

export interface NewGrant {
  /** The name the client gives itself. */
  name: string;
  granted: Granted;
  /** HMAC of the code with which the client gets its tokens. */
  codeHmac: string;
  /** Condition besides that the person is still signed in. */
  alsoWhen?: Condition;
  /** Error text if either condition fails. */
  refusal?: string;
  /** More details for the audit row. */
  detail?: JsonObject;
  /** Statements written with the grant. @param id of the grant, whose row exists only if the grant could be created */
  andThen(id: string, now: number): readonly D1PreparedStatement[];
}

/** Returns the requested scopes that a person may hand on. */
export const within = (requested: readonly Scope[], { scopes }: SignedIn): Scope[] =>
  boundScopes(requested, [...scopes]);

/** @throws OAuthError `access_denied` if the grant can no longer be created; PorticoError */
export async function makeGrant(
  { db, adminAudit, expectEvents, now: clock }: MakeGrantPorts,
  signedIn: SignedIn,
  grant: NewGrant,
): Promise<void> {
  const { name, granted, alsoWhen = ALWAYS, detail, andThen } = grant;
  const [id, now] = [crypto.randomUUID(), clock()];
  const { principalId, id: signInId } = signedIn;
  const { clientId: client, audience, scopes } = granted;
  const when = allOf(whenSignedIn(signedIn), alsoWhen);
  const act = { action: 'grant.create', subject: id };
  await expectEvents();
  await adminAudit.perform(toOwnActor(principalId, signInId), 'admin', act, async commit => {
    const isDone = await commit({
      when,
      statements: [
        insertGrant(db, toRow(signedIn, grant, id, now), when),
        ...andThen(id, now),
        limitGrants(db, principalId, client),
        sweepGrants(db, now),
      ],
      detail: { name, client, audience, scopes: [...scopes], ...detail },
    });
    if (isDone) return;
    throw new OAuthError('access_denied', grant.refusal ?? 'You are no longer signed in');
  });
}

/** Returns the row of a new grant, which waits for its code to be redeemed. */
function toRow(
  signedIn: SignedIn,
  { name, granted, codeHmac }: NewGrant,
  id: string,
  now: number,
): MadeGrant {
  const until = Math.min(now + LIFE.code, signedIn.grantsUntil ?? Infinity);
  return {
    id,
    client_id: granted.clientId,
    name,
    principal_id: signedIn.principalId,
    token_id: signedIn.tokenId,
    identity_id: signedIn.identityId,
    passkey_id: signedIn.passkeyId,
    audience: granted.audience,
    scopes: [...granted.scopes],
    servers: signedIn.servers,
    tools: signedIn.tools,
    toolsets: signedIn.toolsets,
    code_hmac: codeHmac,
    code_challenge: granted.challenge,
    redirect_uri: granted.redirectUri,
    code_expires_at: until,
    redeemed_at: null,
    created_at: now,
    expires_at: until,
    ends_at: signedIn.grantsUntil,
  };
}
