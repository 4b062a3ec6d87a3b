/** Parsing of real `WWW-Authenticate` headers: what is read, in linear time, and what is left out. */
import { describe, expect, it } from 'vitest';
import { readChallenge, toScope } from '../../../src/credentials/oauth/challenge.ts';

const META = 'https://a.example.com/.well-known/oauth-protected-resource/mcp';

describe('a challenge', () => {
  it.each<[string, string, object]>([
    ['nothing', '', {}],
    ['a scheme alone', 'Bearer', {}],
    [
      'quoted parameters',
      `Bearer realm="OAuth", resource_metadata="${META}", error="invalid_token"`,
      { resourceMetadata: META, error: 'invalid_token' },
    ],
    // Stripe, 2026-09-11.
    ['an unquoted address', `Bearer resource_metadata=${META}`, { resourceMetadata: META }],
    // Figma, 2026-06-29: no spaces after commas.
    [
      'parameters close together',
      `Bearer resource_metadata="${META}",scope="mcp:connect",authorization_uri="https://x.example"`,
      { resourceMetadata: META, scope: 'mcp:connect' },
    ],
    [
      'another order',
      `bEaReR scope="a b",\t RESOURCE_METADATA = "${META}"`,
      { resourceMetadata: META, scope: 'a b' },
    ],
    [
      'several challenges',
      `Basic realm="a, Bearer scope=x", DPoP algs="ES256", scope="d", Bearer error=insufficient_scope, scope="b"`,
      { error: 'insufficient_scope', scope: 'b' },
    ],
    [
      'metadata with another scheme',
      `Negotiate abc==, DPoP resource_metadata="${META}", scope="d"`,
      { resourceMetadata: META },
    ],
    ['an escape', String.raw`Bearer scope="a\"b c", error="x\\y"`, { scope: 'c' }],
    ['the first of two', 'Bearer scope="a", scope="b", Bearer scope="c"', { scope: 'a' }],
    ['a text in a text', `Bearer error_description="scope=\\"x\\"", scope="y"`, { scope: 'y' }],
    ['no end of a quote', 'Bearer scope="a b', { scope: 'a b' }],
    ['lines and noise', 'Bearer ;;; @ scope="a\n b"', { scope: 'a b' }],
    [
      'an address that is too long',
      `Bearer resource_metadata="https://a.example/${'x'.repeat(2_048)}"`,
      {},
    ],
  ])('[UP-4] with %s is parsed', (_what, header, said) => {
    expect(readChallenge(header)).toEqual(said);
  });

  it('[UP-4] that is absent has no values', () => expect(readChallenge(null)).toEqual({}));

  it.each([
    ['commas', ','],
    ['quotes', '"'],
    ['escapes', '\\'],
    ['parameters', 'a=b,'],
    ['open quotes', 'a="'],
    ['schemes', 'a '],
    ['spaces', ' '],
  ])('[SEC-4] of a million %s is parsed within a second', (_what, piece) => {
    const started = performance.now();
    readChallenge(`Bearer ${piece.repeat(1_000_000)}`);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('a list of scopes', () => {
  it.each<[string | unknown[] | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    [[], undefined],
    ['  a   b a ', 'a b'],
    [['a', 7, 'b c', 'd"', 'ä', 'https://x.example/y'], 'a https://x.example/y'],
    [[...Array(5_000).keys()].map(n => `s${n}`), undefined],
  ])('[UP-4] %j is %j', (given, text) => expect(toScope(given)).toBe(text));
});
