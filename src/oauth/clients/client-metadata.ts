/**
 * A client's metadata, from a document or a registration (RFC 7591). Unknown members are ignored, since clients send more than matters
 * here; the known ones are checked. Pure.
 */
import { z } from 'zod';
import { rawMembers, tryJson } from '../../shared/json/json-spans.ts';
import { hasHidden } from '../../shared/util/visible-text.ts';
import { OAuthError } from '../oauth-error.ts';
import { AUTH_METHODS, type AuthMethod } from './client.ts';
import { isAllowedRedirect } from './redirects.ts';

const MAX_REDIRECTS = 20;
const MAX_NAME_CHARS = 100;
const MAX_URI_CHARS = 2_000;
const MAX_KEYS = 20;

/** Where a client's keys are; null if it has none in that form. */
export interface ClientKeys {
  jwksUri: string | null;
  /** JSON text of a JWK set. */
  jwks: string | null;
}

const text = z.string().optional();
const MetadataSchema = z.looseObject({
  client_id: text,
  client_name: text,
  redirect_uris: z.unknown().optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: text,
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  jwks_uri: z.string().max(MAX_URI_CHARS).optional(),
  jwks: z.looseObject({ keys: z.array(z.looseObject({})).max(MAX_KEYS) }).optional(),
});
export type ClientMetadata = z.infer<typeof MetadataSchema>;

const refused = (description: string) => new OAuthError('invalid_client_metadata', description);

/** @throws OAuthError `invalid_client_metadata` if the text is not a JSON object, repeats a member, or has members of wrong types */
export function parseMetadata(json: string): ClientMetadata {
  const value = tryJson(json);
  if (value === undefined) throw refused('The metadata is not JSON');
  const parsed = MetadataSchema.safeParse(value);
  if (!parsed.success) {
    const member = String(parsed.error.issues[0]?.path[0] ?? '').replaceAll(/[^a-z_]/g, '');
    throw refused(member === '' ? 'The metadata is not an object' : `${member}: is not valid`);
  }
  rawMembers(json, () => {
    throw refused('The metadata has a member twice');
  });
  return parsed.data;
}

/** Returns the redirects of a client without duplicates. @throws OAuthError `invalid_redirect_uri` */
export function redirectsOf({ redirect_uris: uris }: ClientMetadata): string[] {
  const parsed = z.array(z.string()).min(1).max(MAX_REDIRECTS).safeParse(uris);
  if (!parsed.success) {
    throw new OAuthError('invalid_redirect_uri', `redirect_uris: 1 to ${MAX_REDIRECTS} URIs`);
  }
  if (!parsed.data.every(isAllowedRedirect)) {
    const what = 'https, http of loopback, or the scheme of a known program; no fragment';
    throw new OAuthError('invalid_redirect_uri', `redirect_uris: ${what}`);
  }
  return [...new Set(parsed.data)];
}

/** Returns the name of a client, which people will read. @throws OAuthError `invalid_client_metadata` */
export function nameOf({ client_name: said }: ClientMetadata): string | undefined {
  const name = said?.trim();
  if (name === undefined || name === '') return undefined;
  if (name.length > MAX_NAME_CHARS || hasHidden(name)) {
    throw refused(`client_name: at most ${MAX_NAME_CHARS} characters, all of them visible`);
  }
  return name;
}

/** Returns where the keys of a client are. @throws OAuthError `invalid_client_metadata` if it names both places */
export function keysOf({ jwks_uri: uri, jwks }: ClientMetadata): ClientKeys {
  if (uri !== undefined && jwks !== undefined) throw refused('give jwks_uri or jwks, not both');
  return { jwksUri: uri ?? null, jwks: jwks === undefined ? null : JSON.stringify(jwks) };
}

/**
 * Returns the authentication methods that a client may use.
 * @param named methods that the client names; unknown ones are left out, and `private_key_jwt` needs keys
 * @throws OAuthError `invalid_client_metadata` if none is left
 */
export function methodsOf(
  named: readonly string[],
  { jwksUri, jwks }: ClientKeys,
  possible: readonly AuthMethod[] = AUTH_METHODS,
): AuthMethod[] {
  const hasKeys = jwksUri !== null || jwks !== null;
  const known = possible.filter(
    method => named.includes(method) && (method !== 'private_key_jwt' || hasKeys),
  );
  if (known.length === 0)
    throw refused('token_endpoint_auth_method: names no method that is supported');
  return known;
}

/** Checks that the client uses authorization codes. @throws OAuthError `invalid_client_metadata` if it says that it does not */
export function requireCodes({ grant_types: grants, response_types: types }: ClientMetadata): void {
  if (grants?.includes('authorization_code') === false) {
    throw refused('grant_types: authorization_code is missing');
  }
  if (types?.includes('code') === false) throw refused('response_types: code is missing');
}
