/** The gateway as an OAuth client: its metadata document, which issuers accept it, and how it sends a secret. */
import { describe, expect, it } from 'vitest';
import {
  describeClient,
  methodOf,
  takesDocument,
  toClientDocument,
} from '../../../src/credentials/oauth/client-document.ts';

const ORIGIN = 'https://gateway.example.com';
const ISSUER = 'https://issuer.example.com';
const SECRETS = /client_secret/;

describe('the document', () => {
  it('[UP-4] has what MCP 2026-07-28 and the draft require, and no secret', () => {
    const clientId = `${ORIGIN}/oauth/client-metadata.json`;
    const document = toClientDocument({
      clientId,
      origin: ORIGIN,
      redirectUri: `${ORIGIN}/oauth/callback`,
    });
    expect(document).toEqual({
      client_id: clientId,
      client_name: 'Portico',
      client_uri: ORIGIN,
      redirect_uris: [`${ORIGIN}/oauth/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'web',
      token_endpoint_auth_method: 'none',
    });
    expect(JSON.stringify(document)).not.toMatch(SECRETS);
  });

  it.each([
    ['http://localhost:8787/oauth/callback', 'native'],
    ['http://127.0.0.1:8787/oauth/callback', 'native'],
    ['http://[::1]:8787/oauth/callback', 'native'],
    ['https://localhost.example.com/oauth/callback', 'web'],
  ])('[UP-4] of a gateway at %s describes a %s application', (redirectUri, type) => {
    expect(describeClient(ORIGIN, redirectUri).application_type).toBe(type);
  });
});

describe('a client', () => {
  it.each([
    [true, true],
    [false, false],
    [undefined, false],
    ['true', false],
  ])("[UP-4] is a document if the issuer's metadata is %j: %j", (said, takes) => {
    const metadata = { issuer: ISSUER, client_id_metadata_document_supported: said };
    expect(takesDocument(metadata)).toBe(takes);
  });

  it.each<[string, string[] | undefined, string | undefined]>([
    [ISSUER, undefined, 'basic'],
    [ISSUER, ['client_secret_post', 'client_secret_basic'], 'basic'],
    [ISSUER, ['none', 'client_secret_post'], 'post'],
    [ISSUER, ['none'], 'none'],
    [ISSUER, ['private_key_jwt'], undefined],
    [ISSUER, [], undefined],
    ['https://github.com/login/oauth', undefined, 'post'],
    ['https://octo.ghe.com/login/oauth', undefined, 'post'],
    ['https://github.com/login/oauth', ['client_secret_basic'], 'basic'],
    ['https://ghe.com.example.com/login/oauth', undefined, 'basic'],
    ['https://github.com/other', undefined, 'basic'],
  ])('[UP-4] of %s, which takes %j, sends its secret by %s', (issuer, methods, method) => {
    const takes = methods && { token_endpoint_auth_methods_supported: methods };
    expect(methodOf({ issuer, ...takes })).toBe(method);
  });
});
