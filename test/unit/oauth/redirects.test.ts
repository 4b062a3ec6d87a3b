/** Redirect URIs: those that each known client requests match, and nothing that differs in more than a loopback port. */
import { describe, expect, it } from 'vitest';
import {
  describeRedirect,
  isAllowedRedirect,
  matchesRedirect,
} from '../../../src/oauth/clients/redirects.ts';
import { KNOWN_CLIENTS } from '../../fixtures/oauth-clients.ts';
import { createRandom, SEED } from '../seeded.ts';

const redirectsOf = (metadata: Record<string, unknown>) => metadata['redirect_uris'] as string[];

/** Variants that differ from the given redirect. */
function changesOf(uri: string): string[] {
  const { protocol, host, pathname } = new URL(uri);
  const rest = uri.slice(uri.indexOf('//') + 2 + host.length);
  const isHttp = protocol === 'http:';
  return [
    `${protocol}//evil.example.com${rest}`,
    `${protocol}//${host}.evil.example.com${rest}`,
    `${protocol}//${host}@evil.example.com${rest}`,
    `${protocol}//evil.example.com/${host}${rest}`,
    `${isHttp ? 'https:' : 'http:'}//${host}${rest}`,
    `javascript://${host}${rest}`,
    `${uri}x`,
    `${uri}${pathname.endsWith('/') ? '' : '/'}more`,
    `${protocol}//${host}/x/..${rest || '/'}`,
    `${protocol}//${host}/${rest}`,
    `${uri}?a=b`,
    `${uri}#a`,
    ` ${uri}`,
    `${uri}\n`,
    uri.replace('//', '\\\\'),
    ...(isHttp ? [] : [`${protocol}//${host}:444${rest}`]),
    ...(protocol === 'https:' ? [`${protocol}//${host}:443${rest}`] : []),
  ];
}

describe('redirects of known clients', () => {
  it.each(KNOWN_CLIENTS)('[ACC-5] of %s match as the client requests them', (_name, client) => {
    const registered = redirectsOf(client.metadata);
    expect(registered.filter(uri => !isAllowedRedirect(uri))).toEqual([]);
    expect(client.asked.filter(uri => !matchesRedirect(registered, uri))).toEqual([]);
  });

  it.each(KNOWN_CLIENTS)('[ACC-5] of %s match nothing else', (_name, client) => {
    const registered = redirectsOf(client.metadata);
    const others = client.asked
      .flatMap(changesOf)
      .filter(uri => !client.asked.includes(uri) && !registered.includes(uri));
    expect(others.length).toBeGreaterThan(14);
    expect(others.filter(uri => matchesRedirect(registered, uri))).toEqual([]);
  });
});

describe('loopback', () => {
  it(`[ACC-5] is one host with any port, seed ${SEED}`, () => {
    const random = createRandom();
    const hosts = ['localhost', '127.0.0.1', '[::1]'];
    const rests = ['', '/', '/cb', '/cb/', '/cb?x=1', '/CB', '/a/cb', '/%63b', '/./cb', '//cb'];
    const canonical = (rest: string) => (rest === '' ? '/' : rest);
    for (let i = 0; i < 2_000; i += 1) {
      const [host, rest] = [random.pick(hosts), random.pick(rests)];
      const [otherHost, otherRest] = [random.pick(hosts), random.pick(rests)];
      const port = () => (random.chance(0.3) ? '' : `:${1 + random.below(65_535)}`);
      const [registered, asked] = [
        `http://${host}${port()}${rest}`,
        `http://${otherHost}${port()}${otherRest}`,
      ];
      const isSame = host === otherHost && canonical(rest) === canonical(otherRest);
      expect([registered, asked, matchesRedirect([registered], asked)]).toEqual([
        registered,
        asked,
        isSame,
      ]);
    }
  });

  it.each([
    'http://127.1/cb',
    'http://127.0.0.2/cb',
    'http://0x7f.0.0.1/cb',
    'http://localhost.:1/cb',
    'http://localhost:70000/cb',
    'http://localhost:/cb',
    'http://localhost:1:2/cb',
    'http://user@localhost/cb',
    'http://localhost:1@evil.example.com/cb',
    'http://localhost.evil.example.com/cb',
    'http://[::ffff:127.0.0.1]/cb',
    'https://localhost:2/cb',
    'http:/localhost/cb',
    'http:localhost/cb',
  ])('[ACC-5] does not match %s', asked => {
    const registered = ['http://localhost:1/cb', 'http://127.0.0.1:1/cb', 'https://localhost/cb'];
    expect(matchesRedirect(registered, asked)).toBe(false);
  });
});

describe('redirects that may be registered', () => {
  it.each([
    'https://app.example.com/cb?tenant=1',
    'https://app.example.com:8443/cb',
    'https://xn--bcher-kva.example/cb',
    'http://localhost',
    'com.example.app:/oauth',
    'com.example.app://cb',
    'vscode://vendor.extension/cb',
  ])('[ACC-5] %s', uri => expect(isAllowedRedirect(uri)).toBe(true));

  it.each([
    '',
    'app',
    '//app.example.com/cb',
    'https:',
    'https:app.example.com/cb',
    'https:///app.example.com/cb',
    'https://app.example.com/cb#x',
    'https://app.example.com/cb#',
    'https://user@app.example.com/cb',
    'https://:secret@app.example.com/cb',
    'https://app.example.com\\@evil.example.com/cb',
    'https://app.example.com/ cb',
    'https://app.example.com/\ncb',
    'https://b\u00fccher.example/cb',
    `https://app.example.com/${'a'.repeat(2_000)}`,
    'http://app.example.com/cb',
    'http://192.168.0.1/cb',
    'http://0.0.0.0/cb',
    'javascript:alert(1)',
    'JavaScript://app.example.com/%0aalert(1)',
    'data:text/html,x',
    'file:///x',
    'blob:https://app.example.com/x',
    'about:blank',
    'vbscript:x',
    'ws://app.example.com/',
    'ftp://app.example.com/',
    'mailto:a@example.com',
    'intent://x',
    'myapp://cb',
    'urn:ietf:wg:oauth:2.0:oob',
  ])('[ACC-5] nothing else, no %#', uri => expect(isAllowedRedirect(uri)).toBe(false));

  it.each([
    ['https://App.example.com:8443/cb', { kind: 'web', host: 'app.example.com:8443' }],
    ['http://localhost:51732/callback', { kind: 'loopback', host: 'localhost' }],
    ['http://[::1]/callback', { kind: 'loopback', host: '[::1]' }],
    ['cursor://anysphere.cursor-mcp/oauth/callback', { kind: 'app', host: 'cursor:' }],
    ['com.example.app:/oauth', { kind: 'app', host: 'com.example.app:' }],
  ])('[ACC-5] %s is shown as %j', (uri, place) => expect(describeRedirect(uri)).toEqual(place));
});
