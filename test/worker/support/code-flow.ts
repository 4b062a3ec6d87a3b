/** The gateway as a client of a faked server's authorization server: what tests of it begin with. */
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

/** A server, and what was found out about it. @param metadata replaces what its issuer says of itself */
export async function found(name: string, metadata: object = {}) {
  const at = new OauthUpstream(name);
  Object.assign(at.metadata, metadata);
  const authorizer = await flow.find(at.url);
  return { at, authorizer, tokenAt: String(at.metadata['token_endpoint']) };
}
/** The address that a browser comes back to. */
export const answerOf = (parameters: Record<string, string> | [string, string][]) => {
  const url = new URL(REDIRECT);
  url.search = String(new URLSearchParams(parameters));
  return url;
};
/** What an issuer answers where all is well. */
export const good = { code: 'code-1', state: REQUEST.state };
/** Of a verifier (RFC 7636 §4.2). */
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
/** What a promise fails with: its code, its reason if any, and that nothing of the other side is in it. */
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
