/**
 * Dynamic client registration (RFC 7591): what a client says of itself, and what it is told. It says more than is kept; what is kept it
 * is told. A client asks with codes and refreshes, a program on a machine with device codes too, and does nothing else here. Pure.
 */
import { DEVICE_GRANT, type AuthMethod } from './client.ts';
import {
  keysOf,
  methodsOf,
  nameOf,
  parseMetadata,
  redirectsOf,
  requireCodes,
  type ClientKeys,
} from './client-metadata.ts';
import { areLoopback, describeRedirect } from './redirects.ts';

/** A client has a secret: it may send it in either way, whichever it named. */
export const SECRET_METHODS: readonly AuthMethod[] = ['client_secret_basic', 'client_secret_post'];

export interface Registration extends ClientKeys {
  name: string;
  redirectUris: string[];
  /** As it is told. */
  method: AuthMethod;
  authMethods: readonly AuthMethod[];
  /** As it is told; of what it named. */
  grantTypes: readonly string[];
}

/** @throws OAuthError `invalid_redirect_uri`, `invalid_client_metadata` */
export function parseRegistration(json: string): Registration {
  const metadata = parseMetadata(json);
  const redirectUris = redirectsOf(metadata);
  requireCodes(metadata);
  const keys = keysOf(metadata);
  // RFC 7591 §2: where it says nothing, it has a secret.
  const named = metadata.token_endpoint_auth_method ?? 'client_secret_basic';
  const [method = 'none'] = methodsOf([named], keys);
  const isDevice = metadata.grant_types?.includes(DEVICE_GRANT) && areLoopback(redirectUris);
  return {
    name: nameOf(metadata) ?? describeRedirect(redirectUris[0] ?? '').host,
    redirectUris,
    method,
    authMethods: SECRET_METHODS.includes(method) ? SECRET_METHODS : [method],
    grantTypes: ['authorization_code', 'refresh_token', ...(isDevice ? [DEVICE_GRANT] : [])],
    ...(method === 'private_key_jwt' ? keys : { jwksUri: null, jwks: null }),
  };
}

/** The answer to a registration. @param at when it was made, in milliseconds since the epoch */
export function toRegistrationAnswer(
  id: string,
  { name, redirectUris, method, grantTypes, jwksUri, jwks }: Registration,
  at: number,
  secret: string | undefined,
): object {
  return {
    client_id: id,
    client_id_issued_at: Math.floor(at / 1000),
    ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    response_types: ['code'],
    token_endpoint_auth_method: method,
    ...(jwksUri === null ? {} : { jwks_uri: jwksUri }),
    ...(jwks === null ? {} : { jwks: JSON.parse(jwks) as unknown }),
  };
}
