/** Signs in a person that a provider proved. */
import { whenRecord } from '../../records/record-store.ts';
import { makeSignIn, type SignInPorts } from '../make-sign-in.ts';
import type { Provider } from '../providers/providers-schema.ts';
import type { Proven } from './claims.ts';
import { identify } from './identify.ts';
import { IDENTITIES, renewIdentity } from './identity-store.ts';

export interface IdentityPorts extends SignInPorts {
  onAccessChanged(): Promise<void>;
}

/**
 * @returns the value of the cookie
 * @throws PorticoError `forbidden` if the person may not come in
 */
export async function signInProven(
  ports: IdentityPorts,
  provider: Provider,
  proven: Proven,
): Promise<string> {
  const coming = { action: 'sign_in.create', isWhole: true } as const;
  const identity = await identify(ports, provider, proven, coming);
  const value = await makeSignIn(ports, {
    principal_id: identity.principal_id,
    token_id: null,
    identity_id: identity.id,
    when: whenRecord(IDENTITIES, identity.id),
    asToken: identity.id,
    detail: { by: 'identity', provider: provider.id, groups: identity.groups },
    andThen: [renewIdentity(ports.db, identity)],
  });
  await ports.onAccessChanged();
  return value;
}
