/**
 * Dynamic client registration (RFC 7591): parses a client's metadata and builds the response. Only a part of the metadata is kept; the
 * response tells the client what. A client may use authorization codes and refresh tokens, a program on a person's machine also device
 * codes, and nothing else. Pure.
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

/** A client with a secret may send it in either way, whichever it named. */
export const SECRET_METHODS: readonly AuthMethod[] = ['client_secret_basic', 'client_secret_post'];

export interface Registration extends ClientKeys {
  name: string;
  redirectUris: string[];
  /** The method named in the response. */
  method: AuthMethod;
  authMethods: readonly AuthMethod[];
  /** The grant types named in the response. */
  grantTypes: readonly string[];
}

/** @throws OAuthError `invalid_redirect_uri`, `invalid_client_metadata` */
export function parseRegistration(json: string): Registration {
  const metadata = parseMetadata(json);
  const redirectUris = redirectsOf(metadata);
  requireCodes(metadata);
  const keys = keysOf(metadata);
  // RFC 7591 §2: without a method, the client has a secret.
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

/** Builds the response to a registration. @param at when it was made, in milliseconds since the epoch */
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
