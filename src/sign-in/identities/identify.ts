/**
 * Who somebody is here whom a provider proved somebody to be. An identity is issuer and subject, never an address; its principal is made
 * the first time, where the provider is set up so. What the provider says is read again each time: groups, and whether one may come at all.
 */
import { PRINCIPALS } from '../../access/principals/principal-store.ts';
import { ALWAYS, type AdminAudit } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf, insertRecord } from '../../records/record-store.ts';
import { toOwnActor } from '../../shared/identity/principal.ts';
import { refused } from '../make-sign-in.ts';
import type { Provider } from '../providers/providers-schema.ts';
import { groupsOf, isSubject, mayCome, saysGroups, shownOf, type Proven } from './claims.ts';
import type { Identity } from './identity-schema.ts';
import { findIdentity, IDENTITIES, whenNew } from './identity-store.ts';

export interface IdentifyPorts {
  db: D1Database;
  adminAudit: AdminAudit;
}

/** What somebody comes for. */
export interface Coming {
  /** What a refusal is in the audit. */
  action: 'sign_in.create' | 'grant.create';
  /** What must be true beside all else for somebody who was never here. */
  when?: Condition;
  /** What is not said is not so. Else it stays as it was, for the time it had. */
  isWhole: boolean;
}

/**
 * @returns the identity as it is to be written now
 * @throws PorticoError `forbidden` where they may not come
 */
export async function identify(
  ports: IdentifyPorts,
  provider: Provider,
  proven: Proven,
  coming: Coming,
): Promise<Identity> {
  const { db, adminAudit } = ports;
  const { issuer, subject, claims } = proven;
  if (!isSubject(subject)) throw refused(`${provider.name} does not say who you are`);
  const isWelcome = mayCome(claims, provider.settings);
  const before = await findIdentity(db, { provider_id: provider.id, issuer, subject });
  if (!isWelcome && before) {
    const act = { action: coming.action, subject: before.id };
    await adminAudit.perform(toOwnActor(before.principal_id, before.id), 'admin', act, () =>
      Promise.reject(notWelcome(provider)),
    );
  }
  if (!isWelcome) throw notWelcome(provider);
  const known = before ?? (await create(ports, provider, proven, coming.when ?? ALWAYS));
  return renew(known, provider, proven, coming.isWhole);
}

const notWelcome = ({ name }: Provider) => refused(`Your account at ${name} may not come in here`);

/** Groups that are not said any more last until the time that was theirs, and no longer. */
function renew(
  known: Identity,
  { settings }: Provider,
  proven: Proven,
  isWhole: boolean,
): Identity {
  const now = Date.now();
  const isSaid = isWhole || saysGroups(proven.claims, settings);
  const kept = known.expires_at > now ? known.groups : [];
  const groups = isSaid ? groupsOf(proven.claims, settings) : kept;
  const isExtended = isSaid || groups.length === 0;
  return {
    ...known,
    ...shownOf(proven, isWhole ? undefined : known),
    groups,
    signed_in_at: now,
    expires_at: isExtended ? now + settings.max_age_seconds * 1_000 : known.expires_at,
  };
}

/** The identity of somebody who was never here, with a principal of its own. */
async function create(
  { db, adminAudit }: IdentifyPorts,
  provider: Provider,
  proven: Proven,
  andWhen: Condition,
): Promise<Identity> {
  if (!provider.settings.creates_principals) throw notWelcome(provider);
  const { issuer, subject } = proven;
  const [id, principalId, now] = [crypto.randomUUID(), crypto.randomUUID(), Date.now()];
  const { name, email } = shownOf(proven);
  const who = { provider_id: provider.id, issuer, subject };
  const identity: Identity = {
    ...who,
    id,
    principal_id: principalId,
    name,
    email,
    groups: [],
    created_at: now,
    signed_in_at: now,
    expires_at: now,
  };
  const principal = {
    id: principalId,
    name,
    groups: [],
    scopes: null,
    revision: 1,
    created_at: now,
    updated_at: null,
    token_count: 0,
    claimed_groups: [],
  };
  const when = allOf(whenNew(who), andWhen);
  const act = { action: 'identity.create', subject: id };
  const isDone = await adminAudit.perform(toOwnActor(principalId, id), 'admin', act, commit =>
    commit({
      when,
      statements: [
        insertRecord(db, PRINCIPALS, principal, when),
        insertRecord(db, IDENTITIES, identity, when),
      ],
      detail: { name, principal: principalId, provider: provider.id, issuer, subject },
    }),
  );
  // Of two first sign-ins at once one made it.
  const found = isDone ? identity : await findIdentity(db, who);
  if (!found) throw notWelcome(provider);
  return found;
}
