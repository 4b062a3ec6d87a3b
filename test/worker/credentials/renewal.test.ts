/** Tokens of people's accounts are renewed and revoked: which failures are refusals, which are temporary, and what is not repeated. */
import { describe, expect, it, vi } from 'vitest';
import {
  answerOf,
  basic,
  CANARY,
  CLIENT,
  failure,
  flow,
  found,
  good,
  json,
  placeOf,
  PUBLIC,
  REQUEST,
} from '../support/code-flow.ts';

describe('tokens', () => {
  it('[UP-4] are renewed for their resource; a new refresh token replaces the old one', async () => {
    const { at, authorizer } = await found('renews');
    at.granted = { refresh_token: 'rt-2', expires_in: 60 };
    expect(await flow.refresh(placeOf(authorizer), CLIENT, 'rt-1')).toEqual({
      accessToken: 'at-1',
      refreshToken: 'rt-2',
      scope: undefined,
      lifetimeMs: 60_000,
    });
    at.granted = {};
    expect(await flow.refresh(placeOf(authorizer), PUBLIC, 'rt-2')).toMatchObject({
      refreshToken: undefined,
      // Without a stated lifetime: it can be renewed, so it is renewed within the hour.
      lifetimeMs: 3_600_000,
    });
    expect(at.tokens.map(({ form }) => form)).toEqual([
      { grant_type: 'refresh_token', refresh_token: 'rt-1', resource: at.url },
      { grant_type: 'refresh_token', refresh_token: 'rt-2', resource: at.url, client_id: 'c-1' },
    ]);
  });

  it.each<[object, number]>([
    [{ expires_in: 1 }, 10],
    [{ expires_in: 0 }, 10],
    [{ expires_in: 28_800.5 }, 28_800],
    [{ expires_in: 1e12 }, 365 * 86_400],
    [{}, 365 * 86_400],
    [{ expires_in: null, refresh_token: null, scope: null }, 365 * 86_400],
    [{ refresh_token: 'rt-1' }, 3_600],
  ])('[UP-4] given as %j last %d s', async (granted, seconds) => {
    const { at, authorizer } = await found('lasting');
    at.granted = granted;
    const { lifetimeMs } = await flow.exchange(authorizer, CLIENT, REQUEST, answerOf(good));
    expect(lifetimeMs).toBe(seconds * 1_000);
  });

  const invalid = (error: string, status = 400, headers = {}) =>
    json({ error, error_description: CANARY }, { status, headers });
  it.each<[string, () => Response | Promise<Response>, string | undefined]>([
    ['invalid_grant', invalid('invalid_grant'), 'invalid_grant'],
    [
      'invalid_grant with 401 and a challenge',
      invalid('invalid_grant', 401, { 'www-authenticate': 'Bearer error="invalid_token"' }),
      'invalid_grant',
    ],
    ['invalid_grant with 200', invalid('invalid_grant', 200), 'invalid_grant'],
    ["GitHub's word for it", invalid('bad_refresh_token', 200), 'invalid_grant'],
    [
      "GitHub's word for another client",
      invalid('incorrect_client_credentials', 200),
      'invalid_client',
    ],
    ['401 alone', () => new Response(CANARY, { status: 401 }), 'invalid_client'],
    ['unauthorized_client', invalid('unauthorized_client'), 'unauthorized_client'],
    ['invalid_target', invalid('invalid_target'), 'invalid_target'],
    ['words of its own', invalid(CANARY), 'other'],
    ['temporarily_unavailable', invalid('temporarily_unavailable'), undefined],
    ['server_error', invalid('server_error'), undefined],
    ['invalid_grant with 500', invalid('invalid_grant', 500), undefined],
    ['invalid_grant with 429', invalid('invalid_grant', 429), undefined],
    ['500', () => new Response(CANARY, { status: 500 }), undefined],
    ['404', () => new Response(CANARY, { status: 404 }), undefined],
    ['a page', () => new Response(`<html>${CANARY}`), undefined],
    [
      'half of JSON',
      () => new Response('{"access', { headers: { 'content-type': 'application/json' } }),
      undefined,
    ],
    ['an empty object', json({}), undefined],
    ['a list', json(['at']), undefined],
    [
      'a token with 400',
      json({ access_token: 'at', token_type: 'bearer' }, { status: 400 }),
      undefined,
    ],
    ['a token of another type', json({ access_token: 'at', token_type: 'dpop' }), undefined],
    ['a token of no type', json({ access_token: 'at' }), undefined],
    ['a token of two lines', json({ access_token: 'a\nb', token_type: 'bearer' }), undefined],
    [
      'a token too long',
      json({ access_token: 'a'.repeat(16_385), token_type: 'bearer' }),
      undefined,
    ],
    [
      'a refresh token that is none',
      json({ access_token: 'a', token_type: 'bearer', refresh_token: '' }),
      undefined,
    ],
    [
      'no number of seconds',
      json({ access_token: 'a', token_type: 'bearer', expires_in: 'soon' }),
      undefined,
    ],
    [
      'more than is read',
      json({ access_token: 'a'.repeat(70_000), token_type: 'bearer' }),
      undefined,
    ],
    ['a redirect', () => Response.redirect('https://evil.example.org/'), undefined],
    [
      'nothing',
      () => {
        throw new TypeError(CANARY);
      },
      undefined,
    ],
  ])('[UP-4] [SEC-2] are %s: refused, or unavailable', async (_what, answer, reason) => {
    const { at, authorizer, tokenAt } = await found('not-renewed');
    at.replaced.set(tokenAt, answer);
    expect((await failure(flow.refresh(placeOf(authorizer), CLIENT, 'rt-1'))).reason).toBe(reason);
    expect(at.tokens).toHaveLength(1);
  });

  it('[UP-4] without a response are unavailable after a timeout', async () => {
    const { at, authorizer, tokenAt } = await found('silent');
    const ended = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => ended.signal);
    at.replaced.set(tokenAt, () => {
      ended.abort();
      return new Promise<Response>(() => {});
    });
    expect(await failure(flow.refresh(placeOf(authorizer), CLIENT, 'rt-1'))).toEqual({
      reason: undefined,
      message: 'The authorization server did not answer in time',
    });
  });

  it('[UP-4] are unavailable if the token endpoint is invalid', async () => {
    const { authorizer } = await found('placeless');
    const place = { ...placeOf(authorizer), tokenEndpoint: '' };
    expect(await failure(flow.refresh(place, CLIENT, 'rt-1'))).toMatchObject({
      message: 'The answer of the authorization server is not valid',
    });
  });

  it('[UP-4] [SEC-3] are not requested from a private address', async () => {
    const { authorizer } = await found('moved');
    const place = { ...placeOf(authorizer), tokenEndpoint: 'http://169.254.169.254/token' };
    expect(await failure(flow.refresh(place, CLIENT, 'rt-1'))).toMatchObject({
      message: 'The address of the authorization server is not allowed',
    });
  });

  it('[UP-4] are requested with the other form of Basic only if the client is unknown in the first', async () => {
    const { at, authorizer, tokenAt } = await found('two-forms');
    const client = { ...CLIENT, clientId: 'my client', clientSecret: 'a+b' };
    const plain = basic('my client', 'a+b');
    at.replaced.set(tokenAt, () =>
      at.tokens.at(-1)?.authorization === plain
        ? Response.json({ access_token: 'at-2', token_type: 'Bearer' })
        : Response.json({ error: 'invalid_client' }, { status: 401 }),
    );
    const tokens = await flow.exchange(authorizer, client, REQUEST, answerOf(good));
    expect(tokens.accessToken).toBe('at-2');
    expect(at.tokens.map(({ authorization }) => authorization)).toEqual([
      basic('my+client', 'a%2Bb'),
      plain,
    ]);
    expect(new Set(at.tokens.map(({ form }) => JSON.stringify(form))).size).toBe(1);
    at.tokens.splice(0);
    at.replaced.set(tokenAt, invalid('invalid_grant'));
    await failure(flow.refresh(placeOf(authorizer), client, 'rt-1'));
    expect(at.tokens).toHaveLength(1);
  });
});

describe('revocation', () => {
  it('[UP-4] is requested as the client, and not without an endpoint', async () => {
    const { at, authorizer } = await found('revokes');
    expect(await flow.revoke(placeOf(authorizer), CLIENT, 'rt-1')).toBe(true);
    expect(await flow.revoke(placeOf(authorizer), PUBLIC, 'rt-2')).toBe(true);
    expect(at.revoked).toEqual([
      { authorization: basic('c-1', 's-1'), form: { token: 'rt-1' } },
      { authorization: null, form: { token: 'rt-2', client_id: 'c-1' } },
    ]);
    const place = { ...placeOf(authorizer), revocationEndpoint: undefined };
    expect(await flow.revoke(place, CLIENT, 'rt-1')).toBe(false);
  });

  it.each<[string, () => Response, string | undefined]>([
    ['refuses', json({ error: 'unauthorized_client' }, { status: 400 }), 'unauthorized_client'],
    ['does not know the client', () => new Response('no', { status: 401 }), 'invalid_client'],
    ['fails', () => new Response('no', { status: 503 }), undefined],
  ])('[UP-4] that %s is reported', async (_what, answer, reason) => {
    const { at, authorizer } = await found('revokes-not');
    at.replaced.set(`${at.issuer}/revoke`, answer);
    expect((await failure(flow.revoke(placeOf(authorizer), CLIENT, 'rt-1'))).reason).toBe(reason);
  });
});
