/** Metadata documents of clients: those of known clients are read as they are, and errors in one are reported. */
import { describe, expect, it } from 'vitest';
import { isDocumentId, parseDocument } from '../../../src/oauth/clients/client-document.ts';
import { freshnessOf } from '../../../src/oauth/clients/freshness.ts';
import { DOCUMENTS } from '../../fixtures/oauth-clients.ts';

const ID = 'https://app.example.com/client.json';
const good = {
  client_id: ID,
  client_name: 'App',
  redirect_uris: ['https://app.example.com/cb'],
};
const parse = (change: object = {}, id = ID) =>
  parseDocument(id, JSON.stringify({ ...good, ...change }));
const problemOf = (work: () => unknown) => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
};
const invalid = (message: string) => ({
  code: 'invalid_client',
  message: expect.stringContaining(message),
});

describe('a document of a client', () => {
  it.each(Object.entries(DOCUMENTS))('[ACC-5] of %s is read as it is', (id, { metadata }) => {
    expect(isDocumentId(id)).toBe(true);
    expect(parseDocument(id, JSON.stringify(metadata))).toMatchObject({
      id,
      kind: 'document',
      name: metadata['client_name'],
      redirectUris: metadata['redirect_uris'],
    });
  });

  it.each([
    [{}, ['none']],
    [{ token_endpoint_auth_method: 'none' }, ['none']],
    // ChatGPT: the methods that it lists beside its preferred one count, with keys or without.
    [
      {
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
        jwks_uri: 'https://app.example.com/jwks.json',
      },
      ['none', 'private_key_jwt'],
    ],
    [
      {
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['none'],
      },
      ['none'],
    ],
    [{ token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'] }, ['none']],
    [{ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } }, ['private_key_jwt']],
  ])('[ACC-5] with %j may use %j', (change, methods) => {
    expect(parse(change).authMethods).toEqual(methods);
  });

  it.each([
    [{ token_endpoint_auth_method: 'client_secret_basic' }, 'no method that is supported'],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'no method that is supported'],
    [{ token_endpoint_auth_method: 'client_secret_post', client_secret: 'x' }, 'no method that'],
    [{ jwks: { keys: [] }, jwks_uri: 'https://app.example.com/jwks' }, 'not both'],
    [{ client_id: `${ID}/` }, 'not the URL'],
    [{ client_id: ID.toUpperCase() }, 'not the URL'],
    [{ client_id: undefined }, 'not the URL'],
    [{ client_id: 7 }, 'client_id: is not valid'],
    [{ client_name: undefined }, 'client_name is missing'],
    [{ client_name: ' ' }, 'client_name is missing'],
    [{ client_name: 'x'.repeat(101) }, 'all of them visible'],
    [{ client_name: 'App\u202e' }, 'all of them visible'],
    [{ client_name: ['App'] }, 'client_name: is not valid'],
    [{ redirect_uris: undefined }, 'redirect_uris'],
    [{ redirect_uris: [] }, 'redirect_uris'],
    [{ redirect_uris: 'https://app.example.com/cb' }, 'redirect_uris'],
    [{ redirect_uris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) }, '1 to 20'],
    [{ redirect_uris: ['https://app.example.com/cb', 'javascript:alert(1)'] }, 'redirect_uris'],
    [{ grant_types: ['client_credentials'] }, 'authorization_code is missing'],
    [{ response_types: ['token'] }, 'code is missing'],
    [{ jwks: 'x' }, 'jwks: is not valid'],
    [{ jwks_uri: ['x'] }, 'jwks_uri: is not valid'],
  ])('[ACC-5] with %j is refused', (change, message) => {
    expect(problemOf(() => parse(change))).toMatchObject(invalid(message));
  });

  it.each([
    ['', 'not JSON'],
    ['{', 'not JSON'],
    ['<!doctype html>', 'not JSON'],
    ['[]', 'not an object'],
    ['null', 'not an object'],
    ['"x"', 'not an object'],
    [`{"client_id":"https://evil.example.com/c",${JSON.stringify(good).slice(1)}`, 'twice'],
    [`${JSON.stringify(good).slice(0, -1)},"redirect_uris":["https://evil.example/"]}`, 'twice'],
    ['{"'.padEnd(5_000, 'x'), 'not JSON'],
    [`{"a":${'['.repeat(2_000)}${']'.repeat(2_000)}}`, 'not the URL'],
  ])('[ACC-5] is refused for its text, no %#', (text, message) => {
    expect(problemOf(() => parseDocument(ID, text))).toMatchObject(invalid(message));
  });
});

describe('an id of a document', () => {
  it.each([ID, 'https://a.example/c?v=1', 'http://127.0.0.1:9/c', 'https://a.example/%2f'])(
    '[ACC-5] %s is one of a document',
    id => expect(isDocumentId(id)).toBe(true),
  );

  it.each([
    '',
    'client_x',
    'https://a.example',
    'https://a.example/',
    'https://a.example/?c=1',
    'https://a.example/c#x',
    'https://a.example/c#',
    'https://user@a.example/c',
    'https://a.example/../c',
    'https://a.example/a/./c',
    'https://a.example/%2e%2e/c',
    'https://A.example/c',
    'https://a.example:443/c',
    'https:a.example/c',
    ' https://a.example/c',
    'https://a.example/c ',
    'https://a.example\\c',
    'ftp://a.example/c',
    'data:application/json,{}',
    `https://a.example/${'c'.repeat(2_000)}`,
  ])('[ACC-5] is refused, no %#', id => expect(isDocumentId(id)).toBe(false));
});

describe('its TTL', () => {
  it.each([
    [{}, 300],
    [{ 'cache-control': 'public, max-age=3600' }, 3_600],
    [{ 'cache-control': 'Max-Age="600"', age: '60' }, 540],
    [{ 'cache-control': 'max-age=1' }, 300],
    [{ 'cache-control': 'max-age=999999999' }, 86_400],
    [{ 'cache-control': 'no-cache, max-age=3600' }, 300],
    [{ 'cache-control': 'no-store' }, 300],
    [{ date: 'Tue, 24 Nov 2026 10:00:00 GMT', expires: 'Tue, 24 Nov 2026 12:00:00 GMT' }, 7_200],
    [{ expires: '0' }, 300],
    [{ 'cache-control': 'max-age=x', age: 'x' }, 300],
  ] as [Record<string, string>, number][])('[ACC-5] %j: %i seconds', (headers, seconds) =>
    expect(freshnessOf(new Headers(headers))).toBe(seconds * 1_000),
  );
});
