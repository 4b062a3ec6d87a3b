/**
 * Finds the identity of a person that a provider proved. An identity is issuer and subject, never an email address. Its principal is
 * created on the first visit, if the provider is set up so. Claims are evaluated anew on each visit: groups, and whether the person may
 * come in at all.
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

/** What the person came for. */
export interface Coming {
  /** The audit action of a refusal. */
  action: 'sign_in.create' | 'grant.create';
  /** Further condition for creating an identity on the first visit. */
  when?: Condition;
  /** Whether the claims are complete, so that what they omit is not so. Otherwise it keeps its former value until that expires. */
  isWhole: boolean;
}

/**
 * @returns the identity to be written now
 * @throws PorticoError `forbidden` if the person may not come in
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

const notWelcome = ({ name }: Provider) => refused(`Your account at ${name} may not sign in here`);

/**
 * Returns the identity with the new claims. If the claims say nothing about groups, the former groups stay until their expiry, which is not
 * extended.
 */
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

/** Creates an identity on the first visit, with a principal of its own. */
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
  // Of two concurrent first visits, one created the identity.
  const found = isDone ? identity : await findIdentity(db, who);
  if (!found) throw notWelcome(provider);
  return found;
}
