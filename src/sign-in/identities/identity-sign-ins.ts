/**
 * Signs in whom a provider proved somebody to be. An identity is issuer and subject, never an address; its principal is made at the first
 * sign-in where the provider is set up so. What the provider says is read again each time: groups, and whether one may come at all.
 */
import { PRINCIPALS } from '../../access/principals/principal-store.ts';
import { insertRecord, whenRecord } from '../../records/record-store.ts';
import { toOwnActor } from '../../shared/identity/principal.ts';
import { makeSignIn, refused, type SignInPorts } from '../make-sign-in.ts';
import type { Provider } from '../providers/providers-schema.ts';
import { groupsOf, isSubject, mayCome, shownOf, type Proven } from './claims.ts';
import type { Identity } from './identity-schema.ts';
import { findIdentity, IDENTITIES, renewIdentity, whenNew } from './identity-store.ts';

export interface IdentityPorts extends SignInPorts {
  /** Who may use what was changed. */
  onAccessChanged(): Promise<void>;
}

/**
 * @returns the value of the cookie
 * @throws PorticoError `forbidden` where they may not come
 */
export async function signInProven(
  ports: IdentityPorts,
  provider: Provider,
  proven: Proven,
): Promise<string> {
  const { db, adminAudit, onAccessChanged } = ports;
  const { issuer, subject, claims } = proven;
  if (!isSubject(subject)) throw refused(`${provider.name} does not say who you are`);
  const who = { provider_id: provider.id, issuer, subject };
  const isWelcome = mayCome(claims, provider.settings);
  const before = await findIdentity(db, who);
  if (!isWelcome && before) {
    const act = { action: 'sign_in.create', subject: before.id };
    await adminAudit.perform(toOwnActor(before.principal_id, before.id), 'admin', act, () =>
      Promise.reject(notWelcome(provider)),
    );
  }
  if (!isWelcome) throw notWelcome(provider);
  const known = before ?? (await create(ports, provider, proven));
  const now = Date.now();
  const identity: Identity = {
    ...known,
    ...shownOf(proven),
    groups: groupsOf(claims, provider.settings),
    signed_in_at: now,
    expires_at: now + provider.settings.max_age_seconds * 1_000,
  };
  const value = await makeSignIn(ports, {
    principal_id: identity.principal_id,
    token_id: null,
    identity_id: identity.id,
    when: whenRecord(IDENTITIES, identity.id),
    asToken: identity.id,
    detail: { by: 'identity', provider: provider.id, groups: identity.groups },
    andThen: [renewIdentity(db, identity)],
  });
  await onAccessChanged();
  return value;
}

const notWelcome = ({ name }: Provider) => refused(`Your account at ${name} may not come in here`);

/** The identity of somebody who was never here, with a principal of its own. */
async function create(
  { db, adminAudit }: IdentityPorts,
  provider: Provider,
  proven: Proven,
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
  const when = whenNew(who);
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
