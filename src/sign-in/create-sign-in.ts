/** Builds sign-in: who is signed in with a browser, the ways to sign in, and the records that administrators see and delete. */
import type { ReadRecords } from '../records/records.ts';
import { AccessSignIns } from './access/access-sign-ins.ts';
import { BrowserSignIns, type BrowserPorts } from './browser-sign-ins.ts';
import { createAssertedIdentities } from './identities/asserted-identities.ts';
import { createIdentities } from './identities/identity-service.ts';
import type { OfPrincipal } from './invitation-schema.ts';
import { createInvitations } from './invitation-service.ts';
import { createProviders } from './providers/providers-service.ts';
import { ProviderSignIns, type ProviderSignInPorts } from './providers/by-providers.ts';
import { createOwnRecords } from './own-records.ts';
import { createPasskeyRecords } from './passkeys/passkey-records.ts';
import { Passkeys } from './passkeys/passkeys.ts';
import type { SignIn } from './sign-in-schema.ts';
import { createReachableServers, type ReachablePorts } from './reachable-servers.ts';
import { SIGN_INS } from './sign-in-store.ts';

/** Sign-ins, all of them for administrators and their own for other people. Deleting one ends it at once. */
export type SignInRecords = ReadRecords<SignIn, OfPrincipal>;

export function createSignIn(deps: BrowserPorts & ProviderSignInPorts & ReachablePorts) {
  const signInRecords: SignInRecords = createOwnRecords(deps, {
    table: SIGN_INS,
    noun: 'sign_in',
    missing: 'No such sign-in',
    toDeletionDetail: ({ principal_id: principal }) => ({ principal }),
    onChanged: () => deps.onAccessChanged(),
  });
  return {
    signIns: new BrowserSignIns(deps),
    reachableServers: createReachableServers(deps),
    signInRecords,
    invitations: createInvitations(deps),
    providers: createProviders(deps),
    providerSignIns: new ProviderSignIns(deps),
    accessSignIns: new AccessSignIns(deps),
    identities: createIdentities(deps),
    asserted: createAssertedIdentities(deps),
    passkeys: new Passkeys(deps),
    passkeyRecords: createPasskeyRecords(deps),
  };
}
