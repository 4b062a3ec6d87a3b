/** Tokens: their form and nothing else. Callers: what they may reach. */
import { describe, expect, it } from 'vitest';
import {
  decideServer,
  hasScope,
  requireScope,
  SETUP_ADMIN,
  toCaller,
  type Caller,
} from '../../../src/access/principal.ts';
import {
  createTokenValue,
  CreateTokenSchema,
  isTokenForm,
  MEMBER_SCOPES,
  parseBearer,
  ScopeSchema,
  toTokenView,
  type Token,
} from '../../../src/access/token.ts';

const value = `portico_${'aB3-_'.repeat(8)}xyz`;
const token: Token = {
  id: 't1',
  principalId: 'p1',
  name: 'ci',
  servers: ['s1', 's2'],
  scopes: ['tools:read'],
  createdAt: 1_780_000_000_000,
};

describe('createTokenValue', () => {
  it('[ACC-1] has 256 random bits behind a prefix that scanners find', () => {
    const values = Array.from({ length: 1_000 }, createTokenValue);
    expect(new Set(values).size).toBe(1_000);
    for (const made of values) {
      expect(made).toMatch(/^portico_[A-Za-z0-9_-]{43}$/);
      expect(isTokenForm(made)).toBe(true);
      expect(Buffer.from(made.slice(8), 'base64url')).toHaveLength(32);
    }
  });
});

describe('parseBearer', () => {
  it.each([`Bearer ${value}`, `bearer ${value}`, `BEARER ${value}`, `Bearer   ${value}`])(
    '[ACC-1] takes %j',
    header => {
      expect(parseBearer(header)).toBe(value);
    },
  );

  it.each([
    null,
    '',
    ' ',
    'Bearer',
    'Bearer ',
    value,
    `Basic ${value}`,
    `Basic ${btoa(`user:${value}`)}`,
    `Token ${value}`,
    `Bearer: ${value}`,
    `Bearer=${value}`,
    `Bearer\t${value}`,
    ` Bearer ${value}`,
    `Bearer ${value} `,
    `Bearer ${value} ${value}`,
    `Bearer ${value},Bearer ${value}`,
    `Bearer ${value}, Basic x`,
    `Bearer "${value}"`,
    `Bearer ${value.slice(0, -1)}`,
    `Bearer ${value}a`,
    `Bearer ${value.toUpperCase()}`,
    `Bearer ${value.replace('portico_', 'ghp_')}`,
    `Bearer ${value.replace('a', '+')}`,
    `Bearer ${value.replace('a', '\u0430')}`,
    `Bearer ${value}\n`,
    `Bearer ${value}\u0000`,
    `Bearer Bearer ${value}`,
    'Bearer undefined',
    'Bearer null',
    'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.',
    `Bearer ${'a'.repeat(100_000)}`,
    `Bearer ${' '.repeat(100_000)}${value}`,
  ])('[ACC-1] refuses %j', header => {
    expect(parseBearer(header)).toBeUndefined();
  });
});

describe('the API forms', () => {
  it('[ACC-1] [SEC-2] a view has no value and no HMAC', () => {
    expect(toTokenView(token)).toEqual({
      id: 't1',
      name: 'ci',
      servers: ['s1', 's2'],
      scopes: ['tools:read'],
      created_at: '2026-05-28T20:26:40.000Z',
    });
  });

  it.each([
    {},
    { name: '' },
    { name: '   ' },
    { name: 'x'.repeat(101) },
    { name: 'ci', scopes: [] },
    { name: 'ci', scopes: ['root'] },
    { name: 'ci', servers: [] },
    { name: 'ci', servers: [''] },
    { name: 'ci', servers: 'all' },
    { name: 'ci', token: value },
    { name: 'ci', principal_id: 'p' },
  ])('[ACC-2] refuses %j', body => {
    expect(CreateTokenSchema.safeParse(body).success).toBe(false);
  });
});

describe('a caller', () => {
  const member: Caller = { principalId: 'p', tokenId: 't', scopes: new Set(MEMBER_SCOPES) };

  it('[ACC-2] holds the scopes of its token, and admin holds all', () => {
    for (const scope of ScopeSchema.options) {
      expect(hasScope(SETUP_ADMIN, scope)).toBe(true);
      expect(hasScope(member, scope)).toBe(scope.startsWith('tools:'));
      expect(hasScope({ ...member, scopes: new Set() }, scope)).toBe(false);
    }
    expect(() => requireScope(member, 'admin')).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });

  it('[ACC-3] reaches every server or those of its token', () => {
    const narrowed = toCaller(token);
    expect(narrowed && decideServer(narrowed, 's1')).toBe(true);
    expect(narrowed && decideServer(narrowed, 's3')).toBe(false);
    expect(decideServer(member, 's3')).toBe(true);
    const whole = toCaller({ ...token, servers: null });
    expect(whole && decideServer(whole, 's3')).toBe(true);
    const emptied = toCaller({ ...token, servers: [] });
    expect(emptied && decideServer(emptied, 's1')).toBe(false);
  });

  it('[ACC-1] is nobody without a token', () => {
    expect(toCaller(undefined)).toBeUndefined();
  });
});
