/** Which addresses may be fetched: a table of the spellings in which forbidden ones have been smuggled in. */
import { describe, expect, it } from 'vitest';
import { decideAddress } from '../../../src/http/address-policy.ts';
import { loadCorpus } from '../../fixtures/corpora.ts';

const corpus = loadCorpus('ssrf-urls');

const PUBLIC = [
  'https://example.com',
  'https://example.com/',
  'https://mcp.example.com/mcp',
  'https://mcp.example.com:8443/mcp?tenant=1',
  'https://EXAMPLE.com/MCP',
  'https://example.com./mcp',
  'https://b\u00fccher.example.com/',
  'https://xn--bcher-kva.example.com/',
  'https://caf\u00e9.example.com/',
  'https://xn--rhqv96g.example.com/',
  'https://under_score.example.com/',
  'https://a-b.example.co.uk/',
  'https://1.example.com/',
  'https://example.com/?next=http://127.0.0.1/',
  'https://example.com/%2f%2e%2e/',
  'https://localhost.example.com/',
  'https://internal.example.com/',
  'https://10.0.0.1.example.com/',
  'HTTPS://example.com/',
];

const LOOPBACK = [
  'http://localhost/',
  'http://localhost:8931/mcp',
  'https://localhost:8443/',
  'http://LOCALHOST:3001/sse',
  'http://127.0.0.1/',
  'http://127.0.0.1:22/',
  'http://[::1]:3001/mcp',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://127.1/',
  'http://127.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://\uff11\uff12\uff17.0.0.1/',
  'http://127\u30020\u30020\u30021/',
  'http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/',
  'http://127.0.0.1./',
  'http://%6c%6f%63%61%6c%68%6f%73%74/',
];

const REFUSED = [
  // Not a URL, or one with characters that no URL may contain.
  '',
  ' ',
  'example.com',
  '//example.com',
  '/mcp',
  'https://',
  'https:///',
  'https://?',
  'https://#',
  'https://.',
  'https://..',
  'https:// example.com/',
  ' https://example.com/',
  'https://example.com/ ',
  'https://exa\tmple.com/',
  'https://exa\nmple.com/',
  'https://example.com/\r\nhost: a',
  'https://example.com\u0000.evil.com/',
  'https://example.com\\@127.0.0.1/',
  'https:\\\\example.com\\mcp',
  'https:///example.com/mcp',
  'https:////example.com/mcp',
  'https:/example.com/mcp',
  'https:example.com/mcp',
  'http:///localhost:3001/sse',
  'https://example.com\u00a0/',
  'https://example.com\u2028/',
  'https://exam%ple.com/',
  'https://exam%00ple.com/',
  'https://[::1',
  'https://example.com:99999/',
  'https://example.com:port/',
  'https://exa<mple.com/',
  'https://ex|ample.com/',
  'https://\u200b.com/',
  // Names that cannot be registered, and public names that resolve to any address.
  'https://a.b.c.XN--pokxncvks/',
  'https://xn--a.example.com/',
  'https://xn--99999999999999.example.com/',
  'https://localtest.me/',
  'https://127.0.0.1.nip.io/',
  'https://307.r3dir.me/--to/?url=http://localhost',
  // Schemes.
  'http://example.com/',
  'http://mcp.example.com:443/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'file://localhost/etc/passwd',
  'gopher://127.0.0.1:6379/_INFO',
  'dict://127.0.0.1:11211/stat',
  'ldap://example.com/',
  'ws://example.com/',
  'wss://example.com/',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'blob:https://example.com/1',
  'about:blank',
  'jar:https://example.com!/',
  'unix:///var/run/docker.sock',
  // Credentials in the address.
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://:password@example.com/',
  'https://127.0.0.1@example.com/',
  'https://example.com@127.0.0.1/',
  'http://example.com:80@127.0.0.1/',
  'http://user@localhost/',
  // Address literals, in all their spellings.
  'https://8.8.8.8/',
  'https://0.0.0.0/',
  'https://0/',
  'https://00/',
  'https://0x0/',
  'http://0.0.0.0:8080/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://169.254.169.254./latest/meta-data/',
  'https://2852039166/latest/meta-data/',
  'https://0xA9FEA9FE/',
  'https://0xa9.0xfe.0xa9.0xfe/',
  'https://0251.0376.0251.0376/',
  'https://0251.254.169.254/',
  'https://169.254.43518/',
  'https://169.16689662/',
  'https://425.510.425.510/',
  'https://127.0.0.2/',
  'http://127.0.0.2/',
  'http://127.255.255.254/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://256.256.256.256/',
  'https://1.2.3/',
  'https://1.2.3.4.5/',
  'https://\u2460\u2461\u2462.\u2460.\u2460.\u2460/',
  'https://169\u3002254\u3002169\u3002254/',
  'https://169\uff0e254\uff0e169\uff0e254/',
  'https://\u0661\u0662\u0667.0.0.1/',
  'https://[::]/',
  'http://[::]/',
  'https://[2001:db8::1]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/latest/',
  'https://[ff02::1]/',
  'https://[::ffff:127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[0:0:0:0:0:ffff:a9fe:a9fe]/',
  // Names that are not public.
  'https://intranet/',
  'https://mcp/',
  'https://localhost.localdomain.local/',
  'https://printer.local/',
  'https://printer.local./',
  'https://PRINTER.LOCAL/',
  'https://metadata.google.internal/',
  'https://host.docker.internal/',
  'https://kubernetes.default.svc.internal/',
  'https://db.corp/',
  'https://router.lan/',
  'https://router.home/',
  'https://router.home.arpa/',
  'https://x.intranet/',
  'https://x.private/',
  'https://x.localhost/',
  'http://x.localhost/',
  'https://a.test/',
  'https://a.invalid/',
  'https://a.onion/',
  'https://a.alt/',
  'https://-a.example.com/',
  'https://a-.example.com/',
  'https://a..example.com/',
  'https://.example.com/',
  `https://${'a'.repeat(64)}.example.com/`,
  `https://${'a.'.repeat(126)}example.com/`,
  'https://*.example.com/',
  'https://a,b.example.com/',
  "https://a'b.example.com/",
];

describe('an address that is refused in every mode', () => {
  it.each(REFUSED)('[SEC-3] %j', address => {
    for (const allowsLoopback of [false, true]) {
      expect(decideAddress(address, allowsLoopback)).toEqual({
        allowed: false,
        reason: expect.stringMatching(/^[a-z][^\n]+$/) as unknown,
      });
    }
  });
});

describe('loopback', () => {
  it.each(LOOPBACK)('[SEC-3] %j is allowed in local mode only', address => {
    expect(decideAddress(address, false).allowed).toBe(false);
    expect(decideAddress(address, true)).toMatchObject({
      allowed: true,
      url: { hostname: expect.stringMatching(/^(localhost|127\.0\.0\.1|\[::1\])$/) as unknown },
    });
  });
});

describe('a public address', () => {
  it.each(PUBLIC)('[SEC-3] %j is allowed in every mode', address => {
    expect(decideAddress(address, false).allowed).toBe(true);
    expect(decideAddress(address, true).allowed).toBe(true);
  });
});

it('[SEC-2] [SEC-3] no reason repeats the address', () => {
  const canary = 'canary7f3a';
  for (const address of [
    `https://${canary}@example.com/`,
    `http://${canary}.com/`,
    `https://${canary}/`,
    canary,
  ]) {
    const decision = decideAddress(address, false);
    expect(decision.allowed ? '' : decision.reason).toMatch(/./);
    expect(JSON.stringify(decision)).not.toContain(canary);
  }
});

describe(`[SEC-3] ${corpus.origin}`, () => {
  it('refuses each address that must be refused, in production', () => {
    const forbidden = corpus.cases.filter(({ expect: verdict }) => isForbidden(verdict));
    const admitted = forbidden.filter(({ url }) => decideAddress(url, false).allowed);
    expect(forbidden.length).toBeGreaterThan(5);
    expect(admitted.map(({ url }) => url)).toEqual([]);
  });

  it('allows each address that must be allowed', () => {
    const allowed = corpus.cases.filter(({ expect: verdict }) => verdict === 'allow');
    const refused = allowed.filter(({ url }) => !decideAddress(url, false).allowed);
    expect(allowed.length).toBeGreaterThan(1);
    expect(refused.map(({ url }) => url)).toEqual([]);
  });
});

const isForbidden = (verdict: string) => verdict === 'block' || verdict === 'reject';

describe('a host', () => {
  const reasonOf = (host: string) => {
    const decision = decideAddress(`https://${host}/`, false);
    return decision.allowed ? 'allowed' : decision.reason;
  };

  it('[SEC-3] [SEC-4] has 253 characters at most, including dots', () => {
    const label = 'a'.repeat(63);
    const host = (last: number) => [label, label, label, 'b'.repeat(last)].join('.');
    expect(host(61)).toHaveLength(253);
    expect(reasonOf(host(61))).toBe('allowed');
    expect(reasonOf(host(62))).toBe('the host is not a public name');
    expect(reasonOf(`${'a'.repeat(64)}.example.com`)).toBe('the host is not a public name');
  });

  it('[SEC-3] is distinguished from an address literal, and both are refused', () => {
    for (const host of ['[2001:db8::1]', '93.184.216.34', '1.1']) {
      expect([host, reasonOf(host)]).toEqual([host, 'use a host name, not an address literal']);
    }
    expect(reasonOf('single')).toBe('the host is not a public name');
  });

  it('[SEC-3] may end like the prefix of other labels', () => {
    expect(reasonOf('axn--b.example.com')).toBe('allowed');
    expect(reasonOf('example-xn.example.com')).toBe('allowed');
  });
});
