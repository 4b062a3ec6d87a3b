/** People whom an OpenID provider vouches for to a client, without a browser: who they are here, by the rules of a sign-in. */
import type { Condition } from '../../audit/audit-store.ts';
import type { Provider } from '../providers/providers-schema.ts';
import { findAsserting } from '../providers/providers-store.ts';
import type { Proven } from './claims.ts';
import { identify, type IdentifyPorts } from './identify.ts';
import type { Identity } from './identity-schema.ts';

export interface AssertedIdentities {
  /** The provider with this issuer whose assertions are taken, or undefined. */
  providerOf(issuer: string): Promise<Provider | undefined>;
  /**
   * @param when must be true beside all else for somebody who was never here
   * @returns the identity as it is to be written now
   * @throws PorticoError `forbidden` where they may not come
   */
  identify(provider: Provider, proven: Proven, when: Condition): Promise<Identity>;
}

export const createAssertedIdentities = (ports: IdentifyPorts): AssertedIdentities => ({
  providerOf: issuer => findAsserting(ports.db, issuer),
  identify: (provider, proven, when) =>
    identify(ports, provider, proven, { action: 'grant.create', when, isWhole: false }),
});
