/** Signed client assertions: issuer, audience, lifetime and key, with one error at a time. */
import { describe, expect, it } from 'vitest';
import {
  checkClaims,
  onceKeyOf,
  parseAssertion,
} from '../../../src/oauth/clients/client-assertion.ts';
import {
  ALGORITHMS,
  isSignedBy,
  keysFor,
  parseKeys,
  type Algorithm,
} from '../../../src/shared/crypto/signing-keys.ts';
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';

const ISSUER = 'https://gateway.example.com';
const CLIENT = 'https://chatgpt.com/oauth/6f1c/client.json';
const NOW = 1_800_000_000_000;
const SECONDS = NOW / 1000;
const claims = { iss: CLIENT, sub: CLIENT, aud: ISSUER, exp: SECONDS + 120, jti: 'one' };
const encode = (part: unknown) => toBase64Url(new TextEncoder().encode(JSON.stringify(part)));
const jwtOf = (change: object = {}, header: object = { alg: 'RS256' }) =>
  `${encode(header)}.${encode({ ...claims, ...change })}.AAAA`;
const check = (change: object, clientId?: string) =>
  checkClaims(parseAssertion(jwtOf(change)), clientId, ISSUER, NOW);
const codeOf = (work: () => unknown) => {
  try {
    work();
    return 'taken';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('the claims of an assertion', () => {
  it.each<[object, string?]>([
    [{}],
    [{}, CLIENT],
    [{ aud: `${ISSUER}/token` }],
    [{ aud: [ISSUER, `${ISSUER}/token`] }],
    [{ exp: SECONDS + 360 }],
    [{ exp: SECONDS - 59 }],
    [{ nbf: SECONDS + 60, iat: SECONDS + 60 }],
    [{ iat: SECONDS - 86_400, more: true }],
  ])('[ACC-5] %j is accepted (%s)', (change, clientId) => {
    expect(check(change, clientId)).toBeGreaterThan(NOW);
  });

  it.each<[object, string?]>([
    [{}, 'https://other.example.com/c'],
    [{ iss: 'https://other.example.com/c' }],
    [{ sub: 'https://other.example.com/c' }],
    [{ sub: undefined }],
    [{ iss: undefined }],
    [{ aud: undefined }],
    [{ aud: '' }],
    [{ aud: [] }],
    [{ aud: `${ISSUER}/` }],
    [{ aud: `${ISSUER}/mcp` }],
    [{ aud: 'https://gateway.example.com.evil.example' }],
    [{ aud: [ISSUER, 'https://other.example.com'] }],
    [{ exp: undefined }],
    [{ exp: `${SECONDS + 120}` }],
    [{ exp: SECONDS - 60 }],
    [{ exp: SECONDS + 361 }],
    [{ exp: Number.MAX_SAFE_INTEGER }],
    [{ nbf: SECONDS + 61 }],
    [{ iat: SECONDS + 61 }],
    [{ jti: 7 }],
    [{ jti: '' }],
  ])('[ACC-5] %j is refused (%s)', (change, clientId) => {
    expect(codeOf(() => check(change, clientId))).toBe('invalid_client');
  });

  it.each([
    '',
    'a.b',
    'a.b.c',
    `${jwtOf()}.more`,
    jwtOf().replace('.AAAA', '.AA=='),
    jwtOf().replace('.AAAA', '.AAB'),
    jwtOf({}, { alg: 'none' }),
    jwtOf({}, { alg: 'HS256' }),
    jwtOf({}, { alg: 'RS384' }),
    jwtOf({}, { alg: 'ES256', crit: ['b64'], b64: false }),
    jwtOf({}, {}),
    jwtOf({}, { alg: 'RS256', kid: 7 }),
    jwtOf({ more: 'x'.repeat(9_000) }),
  ])('[ACC-5] is refused, no %#', text => {
    expect(codeOf(() => parseAssertion(text))).toBe('invalid_client');
  });

  it('[ACC-5] names the key that signed it', () => {
    const header = { alg: 'RS256', kid: 'a', jku: 'https://evil.example.com/jwks' };
    expect(parseAssertion(jwtOf({}, header)).header).toMatchObject({ alg: 'RS256', kid: 'a' });
  });

  it('[ACC-5] is recognized as used by its id, or without one by the signed text', () => {
    const key = (change: object) => onceKeyOf(parseAssertion(jwtOf(change)));
    expect(key({ exp: SECONDS + 130 })).toBe(key({}));
    expect(key({ jti: 'two' })).not.toBe(key({}));
    expect(key({ jti: undefined })).toBe(key({ jti: undefined }));
    expect(key({ jti: undefined, exp: SECONDS + 130 })).not.toBe(key({ jti: undefined }));
    expect(key({ sub: 'other' })).not.toBe(key({}));
  });
});

const KINDS = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048 },
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  EdDSA: { name: 'Ed25519' },
  Ed25519: { name: 'Ed25519' },
} as const;
const publicExponent = new Uint8Array([1, 0, 1]);
async function pairOf(alg: Algorithm, change: object = {}) {
  const how = { ...KINDS[alg], publicExponent, ...change };
  const pair = await crypto.subtle.generateKey(how, true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('no pair');
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const sign = async (text: string) =>
    new Uint8Array(
      await crypto.subtle.sign(
        { ...how, hash: 'SHA-256', saltLength: 32 },
        pair.privateKey,
        new TextEncoder().encode(text),
      ),
    );
  return { jwk, sign };
}
const setOf = (...keys: object[]) => parseKeys(JSON.stringify({ keys })) ?? [];

describe('keys of a client', () => {
  it.each(ALGORITHMS)('[ACC-5] %s: fits only its own key, text and algorithm', async alg => {
    const [own, other] = [await pairOf(alg), await pairOf(alg)];
    const keys = setOf({ ...own.jwk, kid: 'a' }, { ...other.jwk, kid: 'b' });
    const signature = await own.sign('text');
    const [first] = keysFor(keys, alg, 'a');
    const [second] = keysFor(keys, alg, 'b');
    if (!first || !second) throw new Error('no keys');
    expect(await isSignedBy(first, alg, 'text', signature)).toBe(true);
    expect(await isSignedBy(first, alg, 'texT', signature)).toBe(false);
    expect(await isSignedBy(second, alg, 'text', signature)).toBe(false);
    expect(await isSignedBy(first, alg, 'text', signature.slice(1))).toBe(false);
    const isOne = (a: Algorithm, b: Algorithm) => KINDS[a].name === KINDS[b].name;
    for (const wrong of ALGORITHMS.filter(each => !isOne(each, alg))) {
      const tried = keysFor(setOf(own.jwk), wrong, undefined);
      const found = await Promise.all(tried.map(key => isSignedBy(key, wrong, 'text', signature)));
      expect([wrong, found.includes(true)]).toEqual([wrong, false]);
    }
  });

  it('[ACC-5] a signature without its leading zeros is refused', async () => {
    const { jwk, sign } = await pairOf('PS256');
    const [key] = keysFor(setOf(jwk), 'PS256', undefined);
    let signature = await sign('text');
    // Each signature has a leading zero byte with a chance of 1 in 256 at least, since a salt is random.
    for (let count = 0; signature[0] !== 0 && count < 10_000; count++)
      signature = await sign('text');
    if (!key || signature[0] !== 0) throw new Error('no signature that begins with a zero');
    expect(await isSignedBy(key, 'PS256', 'text', signature)).toBe(true);
    expect(await isSignedBy(key, 'PS256', 'text', signature.slice(1))).toBe(false);
  });

  it('[ACC-5] that are weak, symmetric, private, broken or for another use are ignored', async () => {
    const { jwk } = await pairOf('RS256');
    const { jwk: weak } = await pairOf('RS256', { modulusLength: 1024 });
    const used = (change: object) => keysFor(setOf({ ...jwk, ...change }), 'RS256', 'k').length;
    expect(used({ kid: 'k' })).toBe(1);
    for (const change of [
      {},
      { kid: 'other' },
      { kid: 'k', use: 'enc' },
      { kid: 'k', alg: 'PS256' },
      { kid: 'k', kty: 'oct', k: 'AAAA' },
      { kid: 'k', n: weak.n },
      { kid: 'k', n: 'A'.repeat(2_000) },
      { kid: 'k', e: 'A'.repeat(300) },
      { kid: 'k', n: 7 },
    ]) {
      expect([change, used(change)]).toEqual([change, 0]);
    }
    const broken = keysFor(
      setOf({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }),
      'ES256',
      undefined,
    );
    expect(broken).toHaveLength(1);
    for (const key of broken) {
      expect(await isSignedBy(key, 'ES256', 'text', new Uint8Array(64))).toBe(false);
    }
  });

  it.each(['', '{', '[]', '{}', '{"keys":7}', `{"keys":[${'{},'.repeat(20)}{}]}`])(
    '[ACC-5] are not found in %j',
    text => expect(parseKeys(text)).toBeUndefined(),
  );
});
