/** Client registrations: requests of real clients are stored as sent, and errors are reported in the terms of RFC 7591. */
import { describe, expect, it } from 'vitest';
import {
  parseRegistration,
  toRegistrationAnswer,
} from '../../../src/oauth/clients/registration.ts';
import { REGISTRATIONS } from '../../fixtures/oauth-clients.ts';

const REDIRECT = 'https://app.example.com/cb';
const parse = (change: object = {}) =>
  parseRegistration(
    JSON.stringify({
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
      ...change,
    }),
  );
const codeOf = (work: () => unknown) => {
  try {
    work();
    return 'taken';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('a registration', () => {
  it.each(Object.entries(REGISTRATIONS))('[ACC-5] of %s is accepted as it is', (_name, client) => {
    const { metadata } = client;
    const registration = parseRegistration(JSON.stringify(metadata));
    expect(toRegistrationAnswer('client_x', registration, 1_000, undefined)).toEqual({
      client_id: 'client_x',
      client_id_issued_at: 1,
      client_name: metadata['client_name'],
      redirect_uris: metadata['redirect_uris'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  it.each([
    [{}, 'none', ['none']],
    [
      { token_endpoint_auth_method: undefined },
      'client_secret_basic',
      ['client_secret_basic', 'client_secret_post'],
    ],
    [
      { token_endpoint_auth_method: 'client_secret_post' },
      'client_secret_post',
      ['client_secret_basic', 'client_secret_post'],
    ],
    [
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } },
      'private_key_jwt',
      ['private_key_jwt'],
    ],
    // A client with a secret cannot use the other methods that it lists: they would work without the secret.
    [
      {
        token_endpoint_auth_method: 'client_secret_post',
        token_endpoint_auth_methods_supported: ['none'],
      },
      'client_secret_post',
      ['client_secret_basic', 'client_secret_post'],
    ],
  ])('[ACC-5] with %j uses %s', (change, method, authMethods) => {
    expect(parse(change)).toMatchObject({ method, authMethods });
  });

  it('[ACC-5] has a name for people, and each redirect once', () => {
    expect(parse()).toMatchObject({ name: 'app.example.com' });
    expect(parse({ client_name: ' App ' })).toMatchObject({ name: 'App' });
    expect(parse({ redirect_uris: [REDIRECT, REDIRECT] }).redirectUris).toEqual([REDIRECT]);
    expect(parse({ grant_types: ['authorization_code', 'client_credentials'] })).toBeDefined();
  });

  it.each([
    [{ redirect_uris: undefined }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [7] }, 'invalid_redirect_uri'],
    [{ redirect_uris: REDIRECT }, 'invalid_redirect_uri'],
    [{ redirect_uris: [REDIRECT, 'javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['http://app.example.com/cb'] }, 'invalid_redirect_uri'],
    [{ client_name: 'a\u200bb' }, 'invalid_client_metadata'],
    [{ client_name: 'x'.repeat(101) }, 'invalid_client_metadata'],
    [{ client_name: 7 }, 'invalid_client_metadata'],
    [{ grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    [{ grant_types: 'authorization_code' }, 'invalid_client_metadata'],
    [{ response_types: ['token'] }, 'invalid_client_metadata'],
    [{ token_endpoint_auth_method: 'client_secret_jwt' }, 'invalid_client_metadata'],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    [{ token_endpoint_auth_method: null }, 'invalid_client_metadata'],
    [{ jwks: {} }, 'invalid_client_metadata'],
  ])('[ACC-5] with %j is refused with %s', (change, code) => {
    expect(codeOf(() => parse(change))).toBe(code);
  });
});
