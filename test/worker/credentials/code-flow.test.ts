/** People sign in at a server's authorization server: where their browser is sent, and which responses are accepted. */
import { describe, expect, it } from 'vitest';
import {
  GrantRefused,
  type UpstreamClient,
} from '../../../src/credentials/oauth/code-flow-schema.ts';
import {
  answerOf,
  basic,
  CANARY,
  challengeOf,
  CLIENT,
  failure,
  flow,
  found,
  good,
  PUBLIC,
  REDIRECT,
  REQUEST,
} from '../support/code-flow.ts';

describe('the authorization URL', () => {
  it('[UP-4] keeps its own parameters and adds those of the request', async () => {
    const { at, authorizer } = await found('sign-in');
    const url = await flow.toAuthorizationUrl(authorizer, CLIENT, REQUEST);
    expect(`${url.origin}${url.pathname}`).toBe(`${at.issuer}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      tenant: 'a',
      response_type: 'code',
      client_id: 'c-1',
      redirect_uri: REDIRECT,
      code_challenge: await challengeOf(REQUEST.verifier),
      code_challenge_method: 'S256',
      state: 'state-1',
      resource: at.url,
      scope: 'a b',
    });
  });

  it('[UP-4] [SEC-5] has each of these once, whatever an issuer put there', async () => {
    const { authorizer } = await found('given-twice', {
      authorization_endpoint:
        'https://given-twice.example.net/a?state=x&redirect_uri=y&state=z#here',
    });
    const url = await flow.toAuthorizationUrl(authorizer, CLIENT, REQUEST);
    expect(url.searchParams.getAll('state')).toEqual([REQUEST.state]);
    expect(url.searchParams.getAll('redirect_uri')).toEqual([REDIRECT]);
    expect(url.hash).toBe('');
  });

  it('[UP-4] has no scope if none is requested, and prompts again where needed', async () => {
    const { authorizer } = await found('scopeless');
    const without = await flow.toAuthorizationUrl(authorizer, CLIENT, {
      ...REQUEST,
      scope: undefined,
    });
    expect(without.searchParams.has('scope')).toBe(false);
    expect(without.searchParams.has('prompt')).toBe(false);
    const offline = { ...REQUEST, scope: 'a offline_access' };
    const url = await flow.toAuthorizationUrl(authorizer, CLIENT, offline);
    expect(url.searchParams.get('prompt')).toBe('consent');
  });

  it.each([
    'http://localhost/authorize',
    'https://10.0.0.1/',
    'javascript:alert(1)',
    'data:text/html,x',
  ])('[UP-4] [SEC-3] %s is refused', async address => {
    const { authorizer } = await found('bad-place', { authorization_endpoint: address });
    await expect(flow.toAuthorizationUrl(authorizer, CLIENT, REQUEST)).rejects.toThrow(
      'not allowed',
    );
  });
});

describe('a response', () => {
  it('[UP-4] yields tokens, for the resource, with the verifier', async () => {
    const { at, authorizer } = await found('answers');
    at.granted = { refresh_token: 'rt-1', scope: 'b  a', expires_in: '3600', id_token: 'no.jwt' };
    expect(await flow.exchange(authorizer, CLIENT, REQUEST, answerOf(good))).toEqual({
      accessToken: 'at-1',
      refreshToken: 'rt-1',
      scope: 'b a',
      lifetimeMs: 3_600_000,
    });
    expect(at.tokens).toEqual([
      {
        authorization: basic('c-1', 's-1'),
        form: {
          grant_type: 'authorization_code',
          code: 'code-1',
          redirect_uri: REDIRECT,
          code_verifier: REQUEST.verifier,
          resource: at.url,
        },
      },
    ]);
  });

  it.each<[UpstreamClient, object, string | null]>([
    [PUBLIC, { client_id: 'c-1' }, null],
    [{ ...CLIENT, method: 'post' }, { client_id: 'c-1', client_secret: 's-1' }, null],
    [
      {
        ...CLIENT,
        clientId: 'https://gateway.example.com/oauth/client-metadata.json',
        clientSecret: undefined,
        method: 'none',
        source: 'document',
      },
      { client_id: 'https://gateway.example.com/oauth/client-metadata.json' },
      null,
    ],
  ])('[UP-4] authenticates the client by %j', async (client, form, authorization) => {
    const { at, authorizer } = await found('shown');
    await flow.exchange(authorizer, client, REQUEST, answerOf(good));
    expect(at.tokens).toMatchObject([{ authorization, form }]);
    expect('client_secret' in (at.tokens[0]?.form ?? {})).toBe('client_secret' in form);
  });

  // MCP 2026-07-28, Authorization Response Validation: the table, then what a lenient comparison would let through.
  it.each<[string, boolean | undefined, string[], boolean]>([
    ['advertised and right', true, ['%'], true],
    ['advertised and not there', true, [], false],
    ['not advertised and right', undefined, ['%'], true],
    ['denied and right', false, ['%'], true],
    ['not advertised and not there', undefined, [], true],
    ['advertised and of another', true, ['https://evil.example.com'], false],
    ['not advertised and of another', undefined, ['https://evil.example.com'], false],
    ['with a slash', true, ['%/'], false],
    ['with a slash, not advertised', undefined, ['%/'], false],
    ['in capitals', true, ['HTTPS://%'], false],
    ['with its port', true, ['%:443'], false],
    ['empty', undefined, [''], false],
    ['twice', true, ['%', '%'], false],
    ['twice, one of another', undefined, ['%', 'https://evil.example.com'], false],
  ])('[UP-4] [SEC-5] with iss %s', async (_what, advertised, issuers, isTaken) => {
    const { at, authorizer } = await found('iss', {
      authorization_response_iss_parameter_supported: advertised,
    });
    const withIss = issuers.map((issuer): [string, string] => [
      'iss',
      issuer.replace('HTTPS://%', at.issuer.toUpperCase()).replace('%', at.issuer),
    ]);
    const exchanging = flow.exchange(
      authorizer,
      CLIENT,
      REQUEST,
      answerOf([...Object.entries(good), ...withIss]),
    );
    const outcome = await exchanging.then(
      ({ accessToken }) => accessToken,
      (error: unknown) => error,
    );
    expect(outcome).toEqual(
      isTaken
        ? 'at-1'
        : new GrantRefused(
            'other',
            'The answer does not belong to this request, or is from another issuer',
          ),
    );
    expect(at.tokens).toHaveLength(isTaken ? 1 : 0);
  });

  it.each<[string, Record<string, string> | [string, string][], string, string]>([
    [
      'of another request',
      { ...good, state: 'state-2' },
      'other',
      'does not belong to this request',
    ],
    ['of no request', { code: 'code-1' }, 'other', 'does not belong to this request'],
    ['without a code', { state: 'state-1' }, 'other', 'does not belong to this request'],
    [
      'with two codes',
      [
        ['code', 'a'],
        ['code', 'b'],
        ['state', 'state-1'],
      ],
      'other',
      'does not belong to this request',
    ],
    [
      'that says no',
      { error: 'access_denied', state: 'state-1', error_description: CANARY },
      'access_denied',
      'refused: access_denied',
    ],
    ['that says no in its own words', { error: CANARY, state: 'state-1' }, 'other', 'refused'],
    [
      'that says no for another issuer',
      { error: 'access_denied', state: 'state-1', iss: 'https://evil.example.com' },
      'other',
      'does not belong to this request',
    ],
    [
      'that says no to another request',
      { error: 'access_denied', state: 'state-2' },
      'other',
      'does not belong to this request',
    ],
  ])('[UP-4] [SEC-5] %s exchanges nothing', async (_what, parameters, reason, message) => {
    const { at, authorizer } = await found('no-answer');
    const failed = await failure(flow.exchange(authorizer, CLIENT, REQUEST, answerOf(parameters)));
    expect(failed.reason).toBe(reason);
    expect(failed.message).toContain(message);
    expect(at.tokens).toEqual([]);
  });
});
