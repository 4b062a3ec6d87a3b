/**
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document-00): the client's id is the URL of its metadata. Such a client
 * has no secret, since nobody could have given it one. Pure.
 */
import { OAuthError } from '../oauth-error.ts';
import type { OAuthClient } from './client.ts';
import {
  keysOf,
  methodsOf,
  nameOf,
  parseMetadata,
  redirectsOf,
  requireCodes,
  type ClientKeys,
} from './client-metadata.ts';

const MAX_ID_CHARS = 2_000;
/** A client with a document cannot use a secret. */
const METHODS = ['none', 'private_key_jwt'] as const;
export type ClientWithKeys = OAuthClient & ClientKeys;

/** Whether an id may be that of a document: a URL in normal form, with a path. Whether it may be fetched is decided by the fetch. */
export function isDocumentId(id: string): boolean {
  if (id.length > MAX_ID_CHARS || id.includes('#')) return false;
  const url = URL.parse(id);
  if (url?.href !== id || url.username !== '' || url.password !== '') return false;
  return ['https:', 'http:'].includes(url.protocol) && url.pathname !== '/';
}

/** Parses the client that a document describes. @param id the URL it was read at @throws OAuthError `invalid_client` */
export function parseDocument(id: string, json: string): ClientWithKeys {
  try {
    const metadata = parseMetadata(json);
    if (metadata.client_id !== id) throw wrong('client_id is not the URL of the document');
    const name = nameOf(metadata);
    if (name === undefined) throw wrong('client_name is missing');
    requireCodes(metadata);
    const keys = keysOf(metadata);
    const { token_endpoint_auth_method: preferred = [], ...said } = metadata;
    const named = [preferred, said.token_endpoint_auth_methods_supported ?? []].flat();
    const authMethods = methodsOf(named.length === 0 ? ['none'] : named, keys, METHODS);
    return {
      id,
      kind: 'document',
      name,
      redirectUris: redirectsOf(metadata),
      authMethods,
      ...keys,
    };
  } catch (error) {
    throw error instanceof OAuthError && error.code !== 'invalid_client'
      ? wrong(error.message)
      : error;
  }
}

const wrong = (what: string) =>
  new OAuthError('invalid_client', `The metadata document of the client: ${what}`);
