/** The settings for the addresses of a gateway and the network that it may reach. */
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config.ts';
import { toPublicOrigin } from '../../../src/http/host-settings.ts';

const PUBLIC = { PORTICO_PUBLIC_URL: 'https://mcp.example.com' };

describe('a public URL', () => {
  it.each([
    ['https://mcp.example.com', 'https://mcp.example.com'],
    ['https://MCP.example.com/', 'https://mcp.example.com'],
    ['https://mcp.example.com:443', 'https://mcp.example.com'],
    ['https://mcp.example.com:8443', 'https://mcp.example.com:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('[OPS-5] may be %s', (text, origin) => {
    expect(toPublicOrigin(text)).toBe(origin);
  });

  it.each([
    '',
    'mcp.example.com',
    'http://mcp.example.com',
    'https://mcp.example.com/gateway',
    'https://mcp.example.com/?a=1',
    'https://mcp.example.com/#a',
    'https://user@mcp.example.com',
    'ftp://mcp.example.com',
    'http://127.0.0.1.evil.example',
    'file:///etc/passwd',
  ])('[OPS-5] [SEC-5] may not be %j', text => {
    expect(toPublicOrigin(text)).toBeUndefined();
  });
});

describe('the origins of pages that may call', () => {
  const allowed = (text: string) =>
    parseConfig({ PORTICO_MODE: 'local', PORTICO_ALLOWED_ORIGINS: text }).allowedOrigins;

  it('[SEC-5] are separated by commas, with spaces or not', () => {
    const origins = ['https://a.example', 'http://b.example:8080', 'chrome-extension://abc'];
    expect(allowed(` ${origins.join(' , ')},`)).toEqual(origins);
    expect(allowed('')).toEqual([]);
  });

  it.each([
    'https://a.example/',
    'https://a.example:443',
    'https://A.example',
    'a.example',
    '*',
    'null',
    'https://user@a.example',
    'https://a.example https://b.example',
  ])('[SEC-5] [OPS-5] may not be %j, and the error names the setting', text => {
    expect(() => allowed(text)).toThrow('Setting PORTICO_ALLOWED_ORIGINS');
  });
});

describe('a gateway on a server', () => {
  it('[OPS-5] is as quick as a local gateway, and reaches the public network only', () => {
    const server = parseConfig({ PORTICO_MODE: 'server', ...PUBLIC });
    const local = parseConfig({ PORTICO_MODE: 'local' });
    const { mode, publicOrigin, network, allowsLoopback, ...rest } = server;
    expect([mode, publicOrigin]).toEqual(['server', 'https://mcp.example.com']);
    expect([network, allowsLoopback]).toEqual(['public', false]);
    expect(local).toMatchObject(rest);
    expect([local.network, local.allowsLoopback]).toEqual(['private', true]);
  });

  it.each(['loopback', 'private'])(
    '[OPS-5] [SEC-3] reaches the %s network if that is allowed',
    network => {
      const settings = { PORTICO_MODE: 'server', ...PUBLIC, PORTICO_NETWORK: network };
      expect(parseConfig(settings)).toMatchObject({ network, allowsLoopback: true });
    },
  );

  it.each([
    [{ PORTICO_MODE: 'server' }, 'PORTICO_PUBLIC_URL'],
    [
      { PORTICO_MODE: 'server', PORTICO_PUBLIC_URL: 'http://mcp.example.com' },
      'PORTICO_PUBLIC_URL',
    ],
    [{ PORTICO_MODE: 'local', ...PUBLIC }, 'PORTICO_PUBLIC_URL'],
    [{ PORTICO_MODE: 'production', PORTICO_NETWORK: 'private' }, 'PORTICO_NETWORK'],
    [{ PORTICO_MODE: 'staging' }, 'PORTICO_MODE'],
    [
      {
        PORTICO_MODE: 'server',
        ...PUBLIC,
        PORTICO_MODEL_URL: 'http://127.0.0.1:1/v1',
        PORTICO_MODEL: 'm',
      },
      'PORTICO_MODEL_URL',
    ],
  ])('[OPS-5] [SEC-4] refuses %j', (settings, name) => {
    expect(() => parseConfig(settings)).toThrow(name);
  });
});
