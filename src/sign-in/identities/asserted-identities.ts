/** People for whom an OpenID provider vouches to a client, without a browser: finds their identity by the rules of a sign-in. */
import type { Condition } from '../../audit/audit-store.ts';
import type { Provider } from '../providers/providers-schema.ts';
import { findAsserting } from '../providers/providers-store.ts';
import type { Proven } from './claims.ts';
import { identify, type IdentifyPorts } from './identify.ts';
import type { Identity } from './identity-schema.ts';

export interface AssertedIdentities {
  /** Returns the provider with this issuer if its assertions are accepted, else undefined. */
  providerOf(issuer: string): Promise<Provider | undefined>;
  /**
   * @param when further condition for creating an identity on the first visit
   * @returns the identity to be written now
   * @throws PorticoError `forbidden` if the person may not come in
   */
  identify(provider: Provider, proven: Proven, when: Condition): Promise<Identity>;
}

export const createAssertedIdentities = (ports: IdentifyPorts): AssertedIdentities => ({
  providerOf: issuer => findAsserting(ports.db, issuer),
  identify: (provider, proven, when) =>
    identify(ports, provider, proven, { action: 'grant.create', when, isWhole: false }),
});
