/** What looks like a secret in edge cases: where a text is cut, forms that are almost one, and texts that are none. */
import { describe, expect, it } from 'vitest';
import {
  beginningWithoutSecrets,
  isSecretName,
  withoutSecretForms,
} from '../../../src/shared/redaction/secret-patterns.ts';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

describe('a text', () => {
  it.each([
    [`a ${JWT} b`, 'a [redacted] b'],
    [`${JWT} ${JWT}`, '[redacted] [redacted]'],
    [`${JWT}.${JWT} b`, '[redacted].[redacted] b'],
    // A header of minimum length, and a shorter one.
    ['eyJabcd.abcd', '[redacted]'],
    ['eyJabc.abcd', 'eyJabc.abcd'],
    // A header alone is ordinary text.
    ['eyJhbGciOiJIUzI1NiJ9', 'eyJhbGciOiJIUzI1NiJ9'],
    ['eyJhbGciOiJIUzI1NiJ9 b', 'eyJhbGciOiJIUzI1NiJ9 b'],
    ['a password is needed', 'a password is needed'],
    ['the token, then', 'the token, then'],
    ['password=', 'password='],
    ['password: ,x', 'password: ,x'],
    ['mysql --password hunter2 -h x', 'mysql --password [redacted] -h x'],
    ['password-', 'password-'],
    ['my password- hunter2', 'my password- hunter2'],
    [`${'x'.repeat(80)}_password=hunter2 b`, `${'x'.repeat(80)}_password=[redacted] b`],
    ['password=token=hunter2 b', 'password=[redacted] b'],
    [`password_${'x'.repeat(64)}=a`, `password_${'x'.repeat(64)}=a`],
    ['max_tokens=5', 'max_tokens=5'],
  ])('[SEC-6] [SEC-2] %j is kept as %j', (text, kept) => {
    expect(withoutSecretForms(text)).toBe(kept);
  });

  it('[SEC-6] [SEC-2] that continues may end in the beginning of a token', () => {
    const head = 'eyJhbGciOiJIUzI1NiJ9';
    expect(withoutSecretForms(`a ${head}`, true)).toBe('a [redacted]');
    expect(withoutSecretForms(`a ${head} b`, true)).toBe(`a ${head} b`);
    expect(withoutSecretForms(`a ${head} b ${head}`, true)).toBe(`a ${head} b [redacted]`);
  });
});

describe('the beginning of a text', () => {
  it('[SEC-6] [SEC-2] contains nothing of a secret that begins in it, however long the secret is', () => {
    for (const length of [10, 4_000, 4_096, 4_200, 100_000]) {
      const text = `ab eyJ${'a'.repeat(length)}.${'b'.repeat(length)}.c`;
      expect([length, beginningWithoutSecrets(text, 20)]).toEqual([length, 'ab [redacted]']);
    }
  });

  it('[SEC-6] is kept up to its last character', () => {
    const head = `eyJ${'a'.repeat(4_093 + 5)}`;
    // The whole text is read, so it is known to be no token.
    expect(beginningWithoutSecrets(head, 5)).toBe('eyJaa');
    // One more character is not read, and could belong to a token.
    expect(beginningWithoutSecrets(`${head}a`, 5)).toBe('[reda');
    expect(beginningWithoutSecrets('abcdef', 6)).toBe('abcdef');
    expect(beginningWithoutSecrets('abcdef', 5)).toBe('abcde');
  });
});

it.each([
  ['password', true],
  ['maxTokens', false],
  ['auth', true],
  ['author', false],
  ['PIN', true],
  ['pinned', false],
])('[SEC-6] %s is the name of a secret: %s', (name, isSecret) => {
  expect(isSecretName(name)).toBe(isSecret);
});
