/** Which gateway, and with which token: what is accepted, and what is refused before anything is sent. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  readGatewayUrl,
  readTarget,
  readToken,
  toMcpUrl,
  type GatewayOptions,
} from '../../../cli/src/gateway-options.ts';
import { toLoginFolder, writeLogin } from '../../../cli/src/login/login-store.ts';

describe('the URL', () => {
  it.each([
    [undefined, undefined, 'http://127.0.0.1:8787/mcp'],
    [undefined, 'https://a.example', 'https://a.example/mcp'],
    ['https://b.example/', 'https://a.example', 'https://b.example/mcp'],
    ['https://b.example/mcp', '', 'https://b.example/mcp'],
    ['https://b.example?names=colon#x', '', 'https://b.example/mcp?names=colon'],
    ['https://b.example/mcp/servers/a', '', 'https://b.example/mcp/servers/a'],
    ['http://localhost:1/mcp/toolsets/a', '', 'http://localhost:1/mcp/toolsets/a'],
    ['http://[::1]:1', '', 'http://[::1]:1/mcp'],
  ])('[CLI-2] [CLI-4] is %s before %s', (url, variable, expected) => {
    expect(toMcpUrl(readGatewayUrl({ url }, { PORTICO_URL: variable })).href).toBe(expected);
  });

  it.each([
    ['example.com', /is not a gateway URL/],
    ['ftp://example.com', /is not a gateway URL/],
    ['https://user:secret@a.example', /contains a credential/],
    ['http://a.example', /unencrypted/],
    ['http://127.evil.example', /unencrypted/],
    ['http://localhost.example', /unencrypted/],
    ['https://a.example/api', /not a gateway endpoint/],
    ['https://a.example/mcp/servers/a/b', /not a gateway endpoint/],
  ])('[CLI-2] [CLI-4] is refused: %s', (url, message) => {
    expect(() => readGatewayUrl({ url }, {})).toThrow(message);
    expect(() => readGatewayUrl({ url }, {})).not.toThrow(/secret/);
  });
});

describe('the token', () => {
  it('[CLI-2] [CLI-4] comes from the option, else the file, else the environment', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-token-'));
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'from-file\n');
    const env = { PORTICO_TOKEN: 'from-env' };
    expect(readToken({ token: 'from-option', tokenFile }, env)).toBe('from-option');
    expect(readToken({ tokenFile }, env)).toBe('from-file');
    expect(readToken({}, env)).toBe('from-env');
    expect(readToken({}, {})).toBeUndefined();
    rmSync(folder, { recursive: true });
    expect(() => readToken({ tokenFile }, env)).toThrow(/cannot be read \(ENOENT\)/);
  });

  it.each(['two words', 'line\nbreak', 'ümlaut', 'x'.repeat(5_000)])(
    '[CLI-2] [CLI-4] is refused, and not shown: %j',
    token => {
      expect(() => readToken({ token }, {})).toThrow(/^the token is too long or contains/);
    },
  );

  it('[CLI-2] [CLI-4] causes an error with advice if there is none', () => {
    const env = { HOME: '/nowhere', PORTICO_TOKEN: ' ' };
    expect(() => readTarget({}, env)).toThrow(/portico login .*PORTICO_TOKEN/);
  });
});

describe('a login', () => {
  const [one, other] = ['https://one.example', 'https://other.example'];
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'portico-login-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const env = (more: Record<string, string> = {}) => ({ XDG_CONFIG_HOME: home, ...more });
  const login = (origin: string) =>
    writeLogin(toLoginFolder(env()), origin, {
      client_id: 'client',
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      access_token: `access-${origin}`,
      refresh_token: 'refresh',
      expires_at: Date.now() + 3_600_000,
    });

  it('[CLI-4] [ACC-7] is used at its gateway, after option and environment', async () => {
    await login(one);
    const at = async (options: GatewayOptions, more?: Record<string, string>) => {
      const { url, token } = readTarget(options, env(more));
      return [url.origin, await token.get()];
    };
    expect(await at({ url: `${one}/mcp` })).toEqual([one, `access-${one}`]);
    expect(await at({}, { PORTICO_URL: one })).toEqual([one, `access-${one}`]);
    expect(await at({ url: one, token: 'a' }, { PORTICO_TOKEN: 'b' })).toEqual([one, 'a']);
    expect(await at({ url: one }, { PORTICO_TOKEN: 'b' })).toEqual([one, 'b']);
    expect(() => readTarget({ url: other }, env())).toThrow(`portico login ${other}`);
  });

  it('[CLI-4] decides the gateway if neither one nor a token is named', async () => {
    await login(one);
    expect(readTarget({}, env()).url.origin).toBe(one);
    const named = readTarget({ token: 'a' }, env());
    expect(named.url.origin).toBe('http://127.0.0.1:8787');
    const set = readTarget({}, env({ PORTICO_TOKEN: 'a' }));
    expect(set.url.origin).toBe('http://127.0.0.1:8787');
    await login(other);
    expect(() => readTarget({}, env())).toThrow('portico login http://127.0.0.1:8787');
  });
});
