/** The sign-in cookie: its name and attributes by protocol, and how it is read from a header. */
import { describe, expect, it } from 'vitest';
import { createCookieValue, readCookie, toSetCookie } from '../../../src/sign-in/sign-in-cookie.ts';

const tls = new URL('https://portico.example.com/sign-in');
const local = new URL('http://127.0.0.1:8787/sign-in');
const value = createCookieValue();
const read = (cookie: string, url = tls) =>
  readCookie(new Request(url, { headers: { cookie } }), url);

describe('the cookie', () => {
  it('[ACC-7] [SEC-5] is restricted to this host, TLS and our own pages', () => {
    expect(toSetCookie(tls, value)).toBe(
      `__Host-portico=${value}; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure`,
    );
    expect(toSetCookie(local, value)).toBe(
      `portico-sign-in=${value}; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax`,
    );
    expect(toSetCookie(tls)).toContain('__Host-portico=; Path=/; Max-Age=0;');
  });

  it('[ACC-7] is read only under its own name and in its own form', () => {
    expect(read(`a=b; __Host-portico=${value}; c=d`)).toBe(value);
    expect(read(`portico-sign-in=${value}`, local)).toBe(value);
    for (const other of [
      '',
      `portico-sign-in=${value}`,
      `__Host-portico=${value}x`,
      `__Host-portico=`,
      `x__Host-portico=${value}`,
      `__host-portico=${value}`,
    ]) {
      expect([other, read(other)]).toEqual([other, undefined]);
    }
  });

  it('[ACC-7] [SEC-5] is not read over a connection that others could read', () => {
    const plain = new URL('http://portico.example.com/sign-in');
    expect(read(`portico-sign-in=${value}; __Host-portico=${value}`, plain)).toBeUndefined();
  });
});
