/**
 * Metadata of the authorization server (RFC 8414, RFC 8628 §4) and of each URL that clients connect to (RFC 9728). It is built from the
 * request's origin alone, so it does not reveal which servers exist. The issuer is the origin. The endpoint paths are those that revision
 * 2025-03-26 expects.
 */
import { ScopeSchema, MEMBER_SCOPES } from '../shared/identity/principal.ts';
import { AUTH_METHODS, DEVICE_GRANT } from './clients/client.ts';
import { ALGORITHMS } from '../shared/crypto/signing-keys.ts';
import { toResourcePath } from './audience.ts';

const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource';

export const PATHS = {
  authorize: '/authorize',
  token: '/token',
  register: '/register',
  revoke: '/revoke',
  deviceAuthorization: '/device_authorization',
  /** The page on which a person types the code that a program shows. */
  device: '/device',
} as const;

export const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  DEVICE_GRANT,
  'urn:ietf:params:oauth:grant-type:jwt-bearer',
] as const;
/** The jwt-bearer grant takes ID-JAG only (draft-ietf-oauth-identity-assertion-authz-grant §7.2). Accepted issuers are not published. */
const GRANT_PROFILES = ['urn:ietf:params:oauth:grant-profile:id-jag'];

/** Returns the document at a well-known path, or undefined if there is none. */
export function findMetadata({ origin, pathname }: URL): object | undefined {
  if (pathname === SERVER) return serverMetadata(origin);
  if (pathname !== RESOURCE && !pathname.startsWith(`${RESOURCE}/`)) return undefined;
  const path = toResourcePath(pathname.slice(RESOURCE.length));
  return path === undefined ? undefined : resourceMetadata(origin, path);
}

function serverMetadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: issuer + PATHS.authorize,
    token_endpoint: issuer + PATHS.token,
    registration_endpoint: issuer + PATHS.register,
    revocation_endpoint: issuer + PATHS.revoke,
    device_authorization_endpoint: issuer + PATHS.deviceAuthorization,
    scopes_supported: ScopeSchema.options,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES,
    authorization_grant_profiles_supported: GRANT_PROFILES,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

function resourceMetadata(origin: string, path: string): object {
  return {
    resource: origin + path,
    authorization_servers: [origin],
    scopes_supported: path === '' || path === '/api/v1' ? ScopeSchema.options : MEMBER_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Portico',
  };
}
