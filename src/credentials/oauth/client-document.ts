/**
 * The gateway as a client of other parties' authorization servers: its client metadata document, and how it authenticates. Source: MCP
 * 2026-07-28, Client Registration; draft-ietf-oauth-client-id-metadata-document-00. Pure.
 */
import type { AuthorizationServer } from 'oauth4webapi';
import type { ClientMethod } from './code-flow-schema.ts';

/** The gateway's name on consent pages. */
const NAME = 'Portico';
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The fields that every description of the gateway as a client has. */
interface ClientDescription {
  client_name: string;
  /** The gateway's own address. */
  client_uri: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: string[];
  application_type: 'web' | 'native';
}

/** The document that an authorization server reads at the URL that is the client's id. */
export interface ClientDocument extends ClientDescription {
  client_id: string;
  token_endpoint_auth_method: 'none';
}

/** @param redirectUri a loopback address makes the client a native one, as the specification requires */
export function describeClient(clientUri: string, redirectUri: string): ClientDescription {
  return {
    client_name: NAME,
    client_uri: clientUri,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: LOOPBACK.has(new URL(redirectUri).hostname) ? 'native' : 'web',
  };
}

/** @param given.clientId the document's own URL; `given.origin` that of the gateway */
export function toClientDocument({
  clientId,
  origin,
  redirectUri,
}: {
  clientId: string;
  origin: string;
  redirectUri: string;
}): ClientDocument {
  return {
    client_id: clientId,
    ...describeClient(origin, redirectUri),
    token_endpoint_auth_method: 'none',
  };
}

/** Whether an authorization server accepts a document's URL as a client id. */
export const takesDocument = (metadata: AuthorizationServer): boolean =>
  metadata['client_id_metadata_document_supported'] === true;

/**
 * How a client sends its secret: by Basic if supported, else in the body. A client with a secret is preferred: whatever others intercept is
 * worthless without the secret.
 * @returns undefined if the authorization server supports no known method; `none` if it supports only that
 */
export function methodOf({
  issuer,
  token_endpoint_auth_methods_supported: methods,
}: AuthorizationServer): ClientMethod | undefined {
  if (methods === undefined) return isGithub(issuer) ? 'post' : 'basic';
  if (methods.includes('client_secret_basic')) return 'basic';
  if (methods.includes('client_secret_post')) return 'post';
  return methods.includes('none') ? 'none' : undefined;
}

/**
 * GitHub's metadata does not name a method, and its documentation describes only the body. Source: docs.github.com, authorizing OAuth apps.
 */
function isGithub(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  return (
    pathname === '/login/oauth' && (hostname === 'github.com' || hostname.endsWith('.ghe.com'))
  );
}
