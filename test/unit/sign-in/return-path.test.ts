/** After a sign-in the browser returns to one of our pages, and to no other place, however the path is written. */
import { describe, expect, it } from 'vitest';
import { toReturnPath } from '../../../src/sign-in/return-path.ts';

const url = new URL('https://portico.example.com/sign-in');

describe('the return path', () => {
  it.each([
    ['/authorize?client_id=a&state=%2F', '/authorize?client_id=a&state=%2F'],
    ['/device?user_code=BCDF-GHJK', '/device?user_code=BCDF-GHJK'],
    ['/connect/github', '/connect/github'],
    ['/connect/github?x=1#part', '/connect/github?x=1'],
    ['/authorize?next=//evil.example', '/authorize?next=//evil.example'],
  ])('[ACC-7] %s is accepted', (text, path) => {
    expect(toReturnPath(text, url)).toBe(path);
  });

  it.each([
    null,
    '',
    '/',
    '/mcp',
    '/api/v1/tokens',
    '//evil.example/authorize?',
    '/\\evil.example/authorize?',
    '\\\\evil.example',
    'https://evil.example/authorize?x',
    'https://portico.example.com/authorize?x',
    'javascript:alert(1)',
    '/connect/../mcp',
    '/connect/..//evil.example',
    '/connect/%2e%2e/%2e%2e//evil.example',
    '/\t/evil.example/connect/',
    '/authorizer?x',
    `/authorize?${'a'.repeat(8_000)}`,
  ])('[ACC-7] [SEC-5] %j is ignored', text => {
    expect(toReturnPath(text, url)).toBeUndefined();
  });

  it('[ACC-7] [SEC-5] puts nothing into a header that would end it', () => {
    expect(toReturnPath('/authorize?a\r\nset-cookie: x', url)).toMatch(/^[!-~]+$/);
  });
});
