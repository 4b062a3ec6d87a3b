/** The arguments stored in the audit: no secret, by schema, name or form, and bounded in size. */
import { describe, expect, it } from 'vitest';
import { redactArguments, redactText } from '../../../src/shared/redaction/redact-arguments.ts';
import { markedSchemaOf } from '../../../src/shared/redaction/secret-marks.ts';
import { isSecretName } from '../../../src/shared/redaction/secret-patterns.ts';
import { createRandom, SEED } from '../seeded.ts';

const CANARY = 'hunter2-canary-5e1f';
const itemOf = (schema: object) => ({
  key: 'tool',
  raw: new Map([['inputSchema', JSON.stringify(schema)]]),
});
const redact = (value: unknown, schema: object = {}) =>
  redactArguments(JSON.stringify(value), markedSchemaOf(itemOf(schema)));

/** Texts that are secrets, in known forms. */
const SECRETS = [
  `ghp_${'a1B2'.repeat(9)}`,
  `github_pat_${'a1B2'.repeat(9)}`,
  `sk-${'proj-abcDEF123'.repeat(2)}`,
  'AKIAIOSFODNN7EXAMPLE',
  'xoxb-123456789012-abcdefGHIJ',
  `portico_${'A'.repeat(43)}`,
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nMIIEow',
  `AIza${'x'.repeat(35)}`,
  `glpat-${'x'.repeat(20)}`,
];
const WRITTEN = [
  `Bearer ${CANARY}`,
  `authorization: bearer   ${CANARY}`,
  `Basic ${CANARY}==`,
  `https://a.example.com/x?api_key=${CANARY}&b=1`,
  `postgres://me:${CANARY}@db.example.com/x`,
  `mysql --password ${CANARY} -h x`,
  `tool --api-key=${CANARY}`,
  `PASSWORD='${CANARY} more'`,
  `{"client_secret":"${CANARY}"}`,
  `{\\"client_secret\\":\\"${CANARY}\\"}`,
  `a: 1, Token: ${CANARY}`,
  `{"password": "${CANARY}`,
  `{'user': 'a', 'password': '${CANARY}, `,
  `github+file:///a?access_token=${CANARY}`,
];

describe('arguments in the audit', () => {
  it.each(SECRETS)('[SEC-6] [SEC-2] contain no text of the form %s', secret => {
    const kept = JSON.stringify(redact({ text: `before ${secret} after`, [secret]: [secret] }));
    expect(kept).not.toContain(secret.slice(0, 24));
    expect(kept).not.toContain('MIIEow');
    expect(kept).toContain('before [redacted]');
  });

  it.each(WRITTEN)('[SEC-6] [SEC-2] contain no secret written as %s', text => {
    expect(JSON.stringify(redact({ text, deep: [{ text }] }))).not.toContain(CANARY);
    expect(redactText(text, 500)).not.toContain(CANARY);
  });

  it('[SEC-6] [SEC-2] contain nothing under the name of a secret, in any casing and with any separators', () => {
    const names =
      'password PassWord user-password api_key API.KEY apiKey x-api-key access_token refreshToken client-secret Authorization Cookie set-cookie privateKey private_key passphrase credentials pin otp auth jwt session_id';
    for (const name of names.split(' ')) {
      for (const value of [CANARY, 4_711_471_147, [CANARY], { a: CANARY, b: { c: CANARY } }]) {
        const kept = redact({ a: { [name]: value } });
        expect([name, kept]).toEqual([name, { arguments: { a: { [name]: '[redacted]' } } }]);
      }
    }
    for (const name of [
      'city',
      'max_tokens',
      'author',
      'authority',
      'spinner',
      'keyboard',
      'key',
    ]) {
      expect([name, isSecretName(name)]).toEqual([name, false]);
    }
    // A count is a number; anything else under such a name is tokens.
    expect(redact({ max_tokens: 5, access_tokens: [CANARY], refreshTokens: CANARY })).toEqual({
      arguments: { max_tokens: 5, access_tokens: '[redacted]', refreshTokens: '[redacted]' },
    });
    expect(redact({ has_password: true, token: null })).toEqual({
      arguments: { has_password: true, token: null },
    });
  });

  it.each<[string, object, unknown]>([
    ['writeOnly', { properties: { a: { writeOnly: true } } }, { a: CANARY }],
    ['format', { properties: { a: { format: 'password' } } }, { a: CANARY }],
    ['x-secret', { properties: { a: { 'x-secret': true } } }, { a: { b: [CANARY] } }],
    ['a list', { properties: { a: { items: { 'x-sensitive': true } } } }, { a: [CANARY, CANARY] }],
    ['any other', { additionalProperties: { writeOnly: true } }, { whatever: CANARY }],
    [
      'a choice',
      { anyOf: [{}, { oneOf: [{ properties: { a: { writeOnly: true } } }] }] },
      { a: CANARY },
    ],
    [
      'a reference',
      { properties: { a: { $ref: '#/$defs/p' } }, $defs: { p: { format: 'password' } } },
      { a: CANARY },
    ],
    [
      'a loop',
      { properties: { a: { $ref: '#' }, b: { writeOnly: true } } },
      { a: { a: { b: CANARY } } },
    ],
    [
      'escapes',
      JSON.parse('{"properties":{"a":{"write\\u004fnly":true}}}') as object,
      { a: CANARY },
    ],
  ])('[SEC-6] [SEC-2] contain nothing that the schema marks: %s', (_, schema, value) => {
    expect(JSON.stringify(redact(value, schema))).not.toContain(CANARY);
  });

  it('[SEC-6] keep everything else unchanged', () => {
    const value = JSON.parse(
      '{"s":"Graz","n":-1.5,"b":false,"z":null,"l":[1,{"__proto__":"x"}]}',
    ) as unknown;
    expect(JSON.stringify(redact(value).arguments)).toBe(JSON.stringify(value));
  });

  it(`[SEC-6] [SEC-4] are bounded, and say so (seed ${SEED})`, () => {
    const random = createRandom();
    const make = (depth: number): unknown => {
      if (depth === 0 || random.chance(0.2)) return 'x'.repeat(random.below(2_000));
      return random.chance(0.5)
        ? Array.from({ length: random.below(12) }, () => make(depth - 1))
        : Object.fromEntries(
            Array.from({ length: random.below(12) }, (_, i) => [`k${i}`, make(depth - 1)]),
          );
    };
    for (let round = 0; round < 200; round += 1) {
      const value = make(random.below(5));
      const text = JSON.stringify(value);
      const kept = redactArguments(text, undefined);
      expect(JSON.stringify(kept).length).toBeLessThan(6_000);
      const isWhole = !('arguments_cut' in kept);
      expect(isWhole ? kept.arguments : value).toEqual(value);
    }
    const long = redact({ note: 'y'.repeat(700), rest: 1 });
    expect(long).toMatchObject({ arguments_cut: true, arguments: { rest: 1 } });
    expect(redactArguments(`"${'x'.repeat(100_000)}"`, undefined)).toEqual({ arguments_cut: true });
    expect(redactText('n'.repeat(1_000), 100)).toHaveLength(105);
  });

  it('[SEC-6] are kept up to the last character that fits', () => {
    expect(redact('x'.repeat(512))).toEqual({ arguments: 'x'.repeat(512) });
    expect(redact('x'.repeat(513))).toEqual({
      arguments: `${'x'.repeat(512)}[cut]`,
      arguments_cut: true,
    });
    expect(redactText('n'.repeat(100), 100)).toBe('n'.repeat(100));
    expect(redactText('n'.repeat(101), 100)).toBe(`${'n'.repeat(100)}[cut]`);
    const most = JSON.stringify({ a: ['x'.repeat(512)] }).padEnd(65_536);
    expect(redactArguments(most, undefined)).toEqual({ arguments: { a: ['x'.repeat(512)] } });
    expect(redactArguments(`${most} `, undefined)).toEqual({ arguments_cut: true });
  });

  it('[SEC-4] [SEC-6] are kept eight levels deep', () => {
    const nested = (levels: number, wrap: (inner: unknown) => unknown) => {
      let value: unknown = 'x';
      for (let i = 0; i < levels; i += 1) value = wrap(value);
      return value;
    };
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ a: inner })]) {
      expect(redact(nested(8, wrap))).toEqual({ arguments: nested(8, wrap) });
      const kept = JSON.stringify(redact(nested(9, wrap)));
      const atBottom = JSON.stringify(nested(8, wrap)).replace('"x"', '"[cut]"');
      expect(kept).toBe(`{"arguments":${atBottom},"arguments_cut":true}`);
    }
  });

  it('[SEC-4] [SEC-6] leave out what does not fit, in lists, in objects and nested', () => {
    const MAX_CHARS = 3_072;
    // An element of one character takes four, so 768 of them use all the room.
    const full = Array.from({ length: MAX_CHARS / 4 }, () => 'x');
    expect(redact(full)).toEqual({ arguments: full });
    expect(redact([...full, 'y', 'z'])).toEqual({
      arguments: [...full, '[cut]'],
      arguments_cut: true,
    });
    const nearly = full.slice(1);
    // Four are left, which is too few for a list or an object.
    expect(redact([...nearly, ['y']])).toEqual({ arguments: [...nearly, ['y']] });
    expect(redact([...nearly, 'y'.repeat(5)])).toEqual({
      arguments: [...nearly, 'yyyy[cut]'],
      arguments_cut: true,
    });
    // A member of one letter takes nine with its value.
    const members = Array.from({ length: 341 }, (_, i) => [String.fromCodePoint(0x4e00 + i), 'x']);
    expect(redact(Object.fromEntries(members))).toEqual({
      arguments: Object.fromEntries(members),
    });
    const more = Object.fromEntries([...members, ['a', 'x'], ['b', 'x'], ['c', []]]) as object;
    expect(redact(more)).toEqual({
      arguments: Object.fromEntries([...members, ['a', '[cut]']]),
      arguments_cut: true,
    });
    // A list or an object is not opened if no room is left.
    expect(redact({ l: Object.fromEntries(members.slice(0, 340)), rest: { deep: 1 } })).toEqual({
      arguments: { l: Object.fromEntries(members.slice(0, 340)), rest: '[cut]' },
      arguments_cut: true,
    });
  });

  it('[SEC-4] are processed in linear time', () => {
    for (const piece of [
      'token ',
      'a'.repeat(60),
      '"\\',
      '-----BEGIN PRIVATE KEY',
      ' '.repeat(50),
      'eyJaaaa.',
      'x://y',
      '--a ',
      'a=',
    ]) {
      const text = piece.repeat(Math.floor(60_000 / piece.length));
      expect(redactText(text, 10).length).toBeLessThanOrEqual(15);
    }
  });
});
