/** The gateway registers itself at a server's authorization server: its request, and which responses it accepts. */
import { describe, expect, it } from 'vitest';
import type { UpstreamClient } from '../../../src/credentials/oauth/code-flow-schema.ts';
import { CANARY, failure, flow, found, GIVEN, json, REDIRECT } from '../support/code-flow.ts';

describe('registration', () => {
  const answered = { client_id: 'c-9', client_name: 'other', redirect_uris: [REDIRECT] };

  it.each<[string, string[] | undefined, string, object, Partial<UpstreamClient>]>([
    [
      'all methods',
      ['none', 'client_secret_post', 'client_secret_basic'],
      'client_secret_basic',
      { client_secret: 's' },
      { method: 'basic', clientSecret: 's' },
    ],
    [
      'the body',
      ['client_secret_post'],
      'client_secret_post',
      { client_secret: 's' },
      { method: 'post', clientSecret: 's' },
    ],
    ['no secret', ['none'], 'none', {}, { method: 'none', clientSecret: undefined }],
    [
      'a secret that nobody needs',
      ['none'],
      'none',
      { client_secret: 's' },
      { method: 'none', clientSecret: undefined },
    ],
    [
      'no word of it',
      undefined,
      'client_secret_basic',
      { client_secret: 's' },
      { method: 'basic', clientSecret: 's' },
    ],
    [
      'another method than was asked for',
      undefined,
      'client_secret_basic',
      { client_secret: 's', token_endpoint_auth_method: 'client_secret_post' },
      { method: 'post', clientSecret: 's' },
    ],
    [
      'nothing, though asked for',
      ['client_secret_basic'],
      'client_secret_basic',
      { client_secret: null, token_endpoint_auth_method: 'none' },
      { method: 'none', clientSecret: undefined },
    ],
  ])('[UP-4] if the issuer takes %s', async (_what, methods, asked, answer, made) => {
    const { at, authorizer } = await found('registers', {
      token_endpoint_auth_methods_supported: methods,
    });
    at.replaced.set(`${at.issuer}/register`, json({ ...answered, ...answer }, { status: 201 }));
    const client = await flow.register(authorizer, GIVEN);
    expect(client).toEqual({ clientId: 'c-9', source: 'registered', ...made });
    expect(at.registered).toEqual([
      {
        client_name: 'Portico',
        client_uri: 'https://gateway.example.com',
        redirect_uris: [REDIRECT],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        application_type: 'web',
        token_endpoint_auth_method: asked,
      },
    ]);
  });

  it.each<[string, () => Response, string | undefined, string]>([
    [
      'says why',
      json({ error: 'invalid_redirect_uri', error_description: CANARY }, { status: 400 }),
      'invalid_redirect_uri',
      'does not register this gateway: invalid_redirect_uri',
    ],
    [
      'says why in its own words',
      json({ error: CANARY }, { status: 403 }),
      'other',
      'does not register this gateway',
    ],
    [
      'wants a token',
      () => new Response(CANARY, { status: 401 }),
      'other',
      'does not register this gateway',
    ],
    [
      'is gone',
      () => new Response(null, { status: 404 }),
      'other',
      'does not register this gateway',
    ],
    ['is busy', json({ error: 'slow' }, { status: 429 }), undefined, 'is not valid'],
    ['fails', () => new Response(CANARY, { status: 500 }), undefined, 'is not valid'],
    ['gives no id', json({ client_secret: 's' }, { status: 201 }), undefined, 'is not valid'],
    [
      'gives an id of two lines',
      json({ client_id: 'a\nb', client_secret: 's' }),
      undefined,
      'is not valid',
    ],
    [
      'gives an id without end',
      json({ client_id: 'a'.repeat(5_000), client_secret: 's' }),
      undefined,
      'is not valid',
    ],
    ['gives no secret', json({ client_id: 'c' }), 'other', 'of another kind'],
    [
      'wants a key',
      json({ client_id: 'c', token_endpoint_auth_method: 'private_key_jwt' }),
      'other',
      'of another kind',
    ],
  ])('[UP-4] [SEC-2] that %s', async (_what, answer, reason, message) => {
    const { at, authorizer } = await found('refuses-clients');
    at.replaced.set(`${at.issuer}/register`, answer);
    const failed = await failure(flow.register(authorizer, GIVEN));
    expect(failed.reason).toBe(reason);
    expect(failed.message).toContain(message);
  });

  it.each([
    ['there is none', { registration_endpoint: undefined }],
    [
      'nothing that the gateway has is taken',
      { token_endpoint_auth_methods_supported: ['private_key_jwt'] },
    ],
  ])('[UP-4] is not tried if %s', async (_what, metadata) => {
    const { at, authorizer } = await found('registers-nobody', metadata);
    expect(await failure(flow.register(authorizer, GIVEN))).toMatchObject({ reason: 'other' });
    expect(at.registered).toEqual([]);
  });
});
