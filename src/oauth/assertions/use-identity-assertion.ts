/**
 * The grant `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 §2.1), for ID-JAG only: a sign-in provider states who a person is and
 * what a client may do, and the client gets what the person could have allowed it. Until the signature is checked, error messages reveal
 * only what the client knows itself, or what is the same for every issuer.
 */
import { allOf } from '../../records/record-store.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { AssertedIdentities } from '../../sign-in/identities/asserted-identities.ts';
import { whenAsserting } from '../../sign-in/providers/providers-store.ts';
import type { Provider } from '../../sign-in/providers/providers-schema.ts';
import { whenUnused } from '../clients/assertion-store.ts';
import type { AuthenticatedClient } from '../clients/client.ts';
import type { TokenAnswer } from '../grants/grant.ts';
import type { IssuePorts } from '../grants/issue.ts';
import { issueForAssertion } from '../grants/issue-for-assertion.ts';
import { OAuthError } from '../oauth-error.ts';
import {
  audienceOf,
  onceOf,
  parseIdentityAssertion,
  provenBy,
  refused,
  scopesOf,
  type IdentityAssertion,
} from './identity-assertion.ts';
import type { IssuerKeys } from './issuer-keys.ts';

export interface AssertionPorts extends IssuePorts {
  asserted: AssertedIdentities;
  issuerKeys: IssuerKeys;
}

/** @throws OAuthError `invalid_request`, `invalid_grant`, `invalid_target`, `invalid_scope`, `unauthorized_client`, `temporarily_unavailable` */
export async function useIdentityAssertion(
  form: URLSearchParams,
  client: AuthenticatedClient,
  origin: string,
  ports: AssertionPorts,
): Promise<TokenAnswer> {
  if (client.method === 'none') {
    throw new OAuthError(
      'unauthorized_client',
      'This grant is for clients that show a secret or a key; have the person sign in',
    );
  }
  const text = form.get('assertion');
  if (text === null) throw new OAuthError('invalid_request', 'assertion is missing');
  const assertion = parseIdentityAssertion(text, client.id, origin, ports.now());
  const provider = await believe(assertion, ports);
  const audience = audienceOf(assertion, form.getAll('resource'), origin);
  const scopes = scopesOf(assertion, form.get('scope'));
  const { until, key } = onceOf(assertion);
  const hash = await sha256Hex(key);
  const when = allOf(whenUnused(hash), whenAsserting(provider.id));
  try {
    const identity = await ports.asserted.identify(provider, provenBy(assertion), when);
    const once = { hash, until, when };
    await ports.clients.touch(client, ports.now());
    return await issueForAssertion({ client, identity, audience, scopes, once }, ports);
  } catch (thrown) {
    if (!(thrown instanceof PorticoError) || thrown.code !== 'forbidden') throw thrown;
    throw refused('was used before, or is about a person who may not sign in here');
  }
}

/** Returns the provider that signed the assertion. @throws OAuthError `invalid_grant`, `temporarily_unavailable` */
async function believe(
  assertion: IdentityAssertion,
  { asserted, issuerKeys }: AssertionPorts,
): Promise<Provider> {
  const { iss, tenant } = assertion.claims;
  const provider = await asserted.providerOf(iss);
  if (!provider || !(await issuerKeys.haveSigned(provider.issuer, assertion))) {
    throw refused('is not signed by an issuer that this gateway trusts');
  }
  // The same subject may be different people in different tenants (§6.3 of the draft), so exactly one tenant must be configured.
  const { length } = provider.settings.required_claims['tenant'] ?? [];
  if (tenant !== undefined && length !== 1)
    throw refused('is from a tenant that this gateway does not accept');
  return provider;
}
