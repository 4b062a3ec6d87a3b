/** The gateway as a client of a faked server's authorization server: the common set-up of its tests. */
import { expect } from 'vitest';
import { CodeFlow } from '../../../src/credentials/oauth/code-flow.ts';
import {
  GrantRefused,
  type Authorizer,
  type CodeRequest,
  type UpstreamClient,
} from '../../../src/credentials/oauth/code-flow-schema.ts';
import type { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { OauthUpstream } from './oauth-upstream.ts';

export const flow = new CodeFlow(false);
export const CANARY = 'canary-5e01d7';
export const REDIRECT = 'https://gateway.example.com/oauth/callback';
export const GIVEN = { redirectUri: REDIRECT, clientUri: 'https://gateway.example.com' };
export const CLIENT: UpstreamClient = {
  clientId: 'c-1',
  clientSecret: 's-1',
  method: 'basic',
  source: 'registered',
};
export const PUBLIC: UpstreamClient = { ...CLIENT, clientSecret: undefined, method: 'none' };
export const REQUEST: CodeRequest = {
  redirectUri: REDIRECT,
  scope: 'a b',
  state: 'state-1',
  verifier: 'v'.repeat(43),
};
export const json = (body: unknown, init?: ResponseInit) => () => Response.json(body, init);
export const basic = (id: string, secret: string) => `Basic ${btoa(`${id}:${secret}`)}`;

/** A server and its discovered authorization server. @param metadata replaces members of the issuer's metadata */
export async function found(name: string, metadata: object = {}) {
  const at = new OauthUpstream(name);
  Object.assign(at.metadata, metadata);
  const authorizer = await flow.find(at.url);
  return { at, authorizer, tokenAt: String(at.metadata['token_endpoint']) };
}
/** The URL to which a browser returns. */
export const answerOf = (parameters: Record<string, string> | [string, string][]) => {
  const url = new URL(REDIRECT);
  url.search = String(new URLSearchParams(parameters));
  return url;
};
/** A valid answer of an issuer. */
export const good = { code: 'code-1', state: REQUEST.state };
/** The challenge of a verifier (RFC 7636 §4.2). */
export async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const text = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
export const placeOf = ({ issuer, resource, metadata }: Authorizer) => ({
  issuer,
  resource,
  tokenEndpoint: metadata.token_endpoint ?? '',
  revocationEndpoint: metadata.revocation_endpoint,
});
/** The failure of a promise: its code, its reason if any, and a check that it shows nothing of the other side. */
export async function failure(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown as PorticoError,
  );
  expect(error?.code).toBe('credential_unavailable');
  expect(error?.message).not.toMatch(/canary|example/);
  const reason = error instanceof GrantRefused ? error.reason : undefined;
  return { reason, message: error?.message };
}
