/** What the console offers for each client: text to paste in either way of signing in, and a URL without shell characters. */
import { describe, expect, it } from 'vitest';
import {
  CHOICES,
  placeOf,
  signingInOf,
  toChoice,
  toText,
  toUrl,
} from '../../../console/src/views/connect/clients.ts';
import { toRights } from '../../../console/src/views/connect/rights.ts';

const ORIGIN = 'https://portico.example.com';

describe('a client', () => {
  it.each(CHOICES)('[ACC-7] %s has its name, its place and something to paste', (choice, name) => {
    const url = toUrl(ORIGIN, choice, '');
    expect(name).not.toContain('(');
    expect(placeOf(choice)).not.toBe('');
    expect(toText(choice, url, 'portico_x')).toContain('portico_x');
    expect(toText(choice, url, undefined)).toMatch(/YOUR_TOKEN|\$PORTICO_TOKEN/);
    if (signingInOf(choice) === undefined) return;
    expect(toText(choice, url, null)).toContain(url);
    expect(toText(choice, url, null)).not.toMatch(/bearer|TOKEN/i);
  });

  it('[ACC-7] is the first one if the URL names none', () => {
    for (const text of [null, '', 'constructor', '<b>']) expect(toChoice(text)).toBe('claude-code');
    expect(toChoice('zed')).toBe('zed');
  });

  it('[ACC-7] [SEC-7] gets a URL without shell characters', () => {
    expect(toUrl(ORIGIN, 'zed', '')).toBe(`${ORIGIN}/mcp?names=underscore`);
    expect(toUrl(ORIGIN, 'curl', 'a b')).toBe(`${ORIGIN}/mcp/toolsets/a%20b`);
    const hostile = toUrl(ORIGIN, 'claude-code', '"; $(x) `y` !z \\ /?#');
    expect(hostile.slice(ORIGIN.length)).toMatch(
      /^\/mcp\/toolsets\/[\w%.~()'*-]+\?names=underscore$/,
    );
    expect(decodeURIComponent(new URL(hostile).pathname)).toBe(
      '/mcp/toolsets/"; $(x) `y` !z \\ /?#',
    );
  });
});

describe('the rights of a token', () => {
  const none = { servers: null, tools: null, toolsets: null };

  it('[ACC-1] are described in words, with its limits', () => {
    expect(toRights({ effective_scopes: ['tools:read', 'tools:call'], ...none })).toBe(
      'list tools, call tools',
    );
    expect(toRights({ effective_scopes: [], ...none })).toBe('nothing');
    const limits = { servers: ['a'], tools: ['b', 'c'], toolsets: [] };
    expect(toRights({ effective_scopes: ['admin'], ...limits })).toBe(
      'administer; only of 1 server and 2 patterns of tools and 0 toolsets',
    );
  });
});
