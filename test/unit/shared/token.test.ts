/** The form of token values, and the scopes that a principal leaves to a token. */
import { describe, expect, it } from 'vitest';
import {
  boundScopes,
  createTokenValue,
  isTokenForm,
  parseBearer,
} from '../../../src/shared/identity/principal.ts';

const value = `portico_${'aB3-_'.repeat(8)}xyz`;

describe('createTokenValue', () => {
  it('[ACC-1] has 256 random bits after a prefix that secret scanners find', () => {
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
    '[ACC-1] accepts %j',
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

describe('boundScopes', () => {
  it('[ACC-2] restricts a token to what its principal may do', () => {
    expect(boundScopes(['tools:read', 'tools:call'], null)).toEqual(['tools:read', 'tools:call']);
    expect(boundScopes(['tools:read', 'tools:call'], ['tools:read'])).toEqual(['tools:read']);
    expect(boundScopes(['tools:read'], ['tools:call', 'tools:read'])).toEqual(['tools:read']);
    expect(boundScopes(['tools:read'], [])).toEqual([]);
  });

  it('[ACC-2] keeps admin of a token only if its principal has it, and adds nothing else', () => {
    expect(boundScopes(['admin'], ['tools:read', 'servers:write'])).toEqual([]);
    expect(boundScopes(['admin', 'tools:read'], ['tools:read'])).toEqual(['tools:read']);
    expect(boundScopes(['admin'], ['admin'])).toEqual(['admin']);
    expect(boundScopes(['tools:read'], ['admin'])).toEqual(['tools:read']);
  });
});
