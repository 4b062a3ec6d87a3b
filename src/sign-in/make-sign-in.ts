/** Creates a sign-in with its audit row, in one batch with the statements that use up or renew the credential it came by. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { Condition } from '../audit/audit-store.ts';
import { insertRecord } from '../records/record-store.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toOwnActor } from '../shared/identity/principal.ts';
import type { JsonObject } from '../shared/protocol.ts';
import type { ExpectEvents } from '../webhooks/expect-events.ts';
import { createCookieValue, SIGN_IN_MS } from './sign-in-cookie.ts';
import type { SignIn } from './sign-in-schema.ts';
import { SIGN_INS, sweepSignIns } from './sign-in-store.ts';

export interface SignInPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  expectEvents: ExpectEvents;
}

/** The credential that a sign-in comes by. */
export interface Way
  extends
    Pick<SignIn, 'principal_id' | 'token_id' | 'identity_id'>,
    Partial<Pick<SignIn, 'passkey_id'>> {
  /** Condition that must still hold for it. */
  when: Condition;
  /** Takes the place of the token in audit rows. */
  asToken: string;
  detail: JsonObject;
  /** Further statements of the same batch. */
  andThen?: readonly D1PreparedStatement[];
}

export const refused = (detail: string) => new PorticoError('forbidden', detail);
export const NOBODY =
  'You cannot sign in with this: it is unknown, was used, has expired, or does not belong to a person';

/** @returns the value of the cookie @throws PorticoError `forbidden` if the credential is no longer valid */
export async function makeSignIn(
  { db, keys, adminAudit, expectEvents }: SignInPorts,
  { when, asToken, detail, andThen = [], ...way }: Way,
): Promise<string> {
  const [id, value, now] = [crypto.randomUUID(), createCookieValue(), Date.now()];
  const [hmac = ''] = await keys.hmacs('sign-in', value);
  const times = { created_at: now, expires_at: now + SIGN_IN_MS };
  const row: SignIn = { passkey_id: null, ...way, id, principal_name: '', ...times };
  const act = { action: 'sign_in.create', subject: id };
  await expectEvents();
  await adminAudit.perform(toOwnActor(way.principal_id, asToken), 'admin', act, async commit => {
    const isDone = await commit({
      when,
      statements: [
        insertRecord(db, SIGN_INS, row, when, { hmac }),
        ...andThen,
        ...sweepSignIns(db, way, now),
      ],
      detail: { ...detail, principal: way.principal_id },
    });
    if (!isDone) throw refused(NOBODY);
  });
  return value;
}
