/** Origin and Host: which web pages may call, and under which names the gateway answers. */
import { describe, expect, it } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { asRequested, checkOrigin, type OriginPolicy } from '../../../src/http/entry-checks.ts';

const publicOrigin = undefined;
const local: OriginPolicy = { mode: 'local', publicOrigin, allowedOrigins: [] };
const production: OriginPolicy = {
  mode: 'production',
  publicOrigin,
  allowedOrigins: ['https://app.example.com'],
};
const server: OriginPolicy = {
  ...production,
  mode: 'server',
  publicOrigin: 'https://mcp.example.com',
};

function verdict(url: string, origin: string | null, policy: OriginPolicy): string {
  try {
    checkOrigin(new URL(url), origin, policy);
    return 'allowed';
  } catch (error) {
    return error instanceof PorticoError ? error.code : String(error);
  }
}

describe('in production', () => {
  const url = 'https://gateway.example.com/mcp';

  it.each([null, 'https://gateway.example.com', 'https://app.example.com'])(
    '[SEC-5] allows the origin %j',
    origin => {
      expect(verdict(url, origin, production)).toBe('allowed');
    },
  );

  it.each([
    'null',
    '',
    '*',
    'https://evil.example',
    'http://gateway.example.com',
    'https://gateway.example.com:8443',
    'https://gateway.example.com.evil.example',
    'https://gateway.example.com/',
    'https://GATEWAY.example.com',
    'https://app.example.com.evil.example',
    'https://app.example.com@evil.example',
    'https://xapp.example.com',
    'http://app.example.com',
    'http://localhost:8787',
    'http://127.0.0.1',
    'file://',
    'chrome-extension://abc',
  ])('[SEC-5] refuses the origin %j', origin => {
    expect(verdict(url, origin, production)).toBe('origin_refused');
  });

  it('[SEC-5] answers under any name', () => {
    expect(verdict('https://other.example.com/mcp', null, production)).toBe('allowed');
  });
});

describe('in local mode', () => {
  it.each([
    'http://localhost:8787',
    'http://127.0.0.1:8787',
    'http://[::1]:8787',
    'http://LOCALHOST/',
  ])('[SEC-5] answers under %s', host => {
    expect(verdict(`${host}/mcp`, null, local)).toBe('allowed');
    expect(verdict(`${host}/mcp`, 'http://localhost:6274', local)).toBe('allowed');
    expect(verdict(`${host}/mcp`, 'http://127.0.0.1:1', local)).toBe('allowed');
  });

  it.each([
    'http://evil.example:8787',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://192.168.1.2:8787',
    'http://0.0.0.0:8787',
    'http://127.0.0.2:8787',
  ])('[SEC-5] does not answer under %s, a name that was rebound to this machine', host => {
    expect(verdict(`${host}/mcp`, null, local)).toBe('origin_refused');
    expect(verdict(`${host}/mcp`, host, local)).toBe('origin_refused');
  });

  it.each([
    'http://evil.example',
    'null',
    '',
    'http://localhost.evil.example',
    'http://localhost@evil.example',
    'https://127.0.0.1.evil.example',
    'file://',
  ])('[SEC-5] refuses the origin %j', origin => {
    expect(verdict('http://127.0.0.1:8787/mcp', origin, local)).toBe('origin_refused');
  });
});

describe('on a server', () => {
  // TLS ends before the gateway.
  const asked = (host: string) => asRequested(new URL(`http://${host}/mcp?a=1`), server);

  it('[OPS-5] [SEC-5] answers to its public name, over https', () => {
    for (const host of ['mcp.example.com', 'MCP.example.com', 'mcp.example.com:443']) {
      expect(asked(host).href).toBe('https://mcp.example.com/mcp?a=1');
      expect(verdict(asked(host).href, null, server)).toBe('allowed');
      expect(verdict(asked(host).href, 'https://mcp.example.com', server)).toBe('allowed');
    }
  });

  it('[OPS-5] answers to the machine that runs it, and not to pages of this machine', () => {
    const url = asked('127.0.0.1:4711').href;
    expect(url).toBe('http://127.0.0.1:4711/mcp?a=1');
    expect(verdict(url, null, server)).toBe('allowed');
    expect(verdict(url, 'http://localhost:6274', server)).toBe('origin_refused');
  });

  it.each([
    'evil.example',
    'mcp.example.com:8443',
    'mcp.example.com.',
    'mcp.example.com.evil.example',
    'xmcp.example.com',
    '10.0.0.1',
  ])('[OPS-5] [SEC-5] does not answer under %s', host => {
    expect(verdict(asked(host).href, null, server)).toBe('origin_refused');
  });

  it.each([
    'https://evil.example',
    'http://mcp.example.com',
    'https://mcp.example.com:8443',
    'null',
  ])('[OPS-5] [SEC-5] refuses the origin %s', origin => {
    expect(verdict('https://mcp.example.com/mcp', origin, server)).toBe('origin_refused');
  });

  it('[OPS-5] allows configured pages', () => {
    expect(verdict('https://mcp.example.com/mcp', 'https://app.example.com', server)).toBe(
      'allowed',
    );
  });

  it('[OPS-5] on Cloudflare a public URL restricts the name too', () => {
    const named: OriginPolicy = { ...server, mode: 'production' };
    expect(verdict('https://mcp.example.com/mcp', null, named)).toBe('allowed');
    expect(verdict('https://portico.acme.workers.dev/mcp', null, named)).toBe('origin_refused');
    expect(verdict('http://127.0.0.1/mcp', null, named)).toBe('origin_refused');
  });
});
