/** Discovery of a server's authorization server: the order of URLs, the exact issuer, PKCE, the scope, several authorization servers. */
import { describe, expect, it } from 'vitest';
import { CodeFlow } from '../../../src/credentials/oauth/code-flow.ts';
import { OtherIssuer } from '../../../src/credentials/oauth/code-flow-schema.ts';
import { OauthUpstream } from '../support/oauth-upstream.ts';

const flow = new CodeFlow(false);
const PROTECTED = '/.well-known/oauth-protected-resource';
const json = (body: unknown, init?: ResponseInit) => () => Response.json(body, init);
const missing = () => new Response('no', { status: 404 });

describe('the URLs', () => {
  it('[UP-4] of the resource: the one that the challenge names, and no other', async () => {
    const at = new OauthUpstream('named');
    at.challenge = `Bearer resource_metadata=${at.origin}/elsewhere/meta`;
    at.replaced.set(`${at.origin}/elsewhere/meta`, json(at.resource));
    const { issuer, resource } = await flow.find(at.url);
    expect([issuer, resource]).toEqual([at.issuer, at.url]);
    expect(at.requests).toEqual([
      `POST ${at.url}`,
      `GET ${at.origin}/elsewhere/meta`,
      `GET ${at.issuer}/.well-known/oauth-authorization-server`,
    ]);
    at.replaced.set(`${at.origin}/elsewhere/meta`, missing);
    await expect(flow.find(at.url)).rejects.toThrow('names no authorization server');
  });

  it('[UP-4] of the resource without a challenge: with the path, then at the root', async () => {
    const at = new OauthUpstream('placed');
    at.replaced.set(`${at.origin}${PROTECTED}/mcp`, missing);
    at.replaced.set(
      `${at.origin}${PROTECTED}`,
      json({ resource: at.origin, authorization_servers: [at.issuer] }),
    );
    expect(await flow.find(at.url)).toMatchObject({ resource: at.origin });
    expect(at.requests.slice(1, 3)).toEqual([
      `GET ${at.origin}${PROTECTED}/mcp`,
      `GET ${at.origin}${PROTECTED}`,
    ]);
  });

  it('[UP-4] of an issuer with a path, in the order of the specification; pages and redirects are no metadata', async () => {
    const at = new OauthUpstream('tenant', '/tenant1');
    const { origin } = new URL(at.issuer);
    const [first, second, third] = [
      `${origin}/.well-known/oauth-authorization-server/tenant1`,
      `${origin}/.well-known/openid-configuration/tenant1`,
      `${origin}/tenant1/.well-known/openid-configuration`,
    ];
    at.replaced.set(
      first,
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    );
    at.replaced.set(second, () => Response.redirect('https://other.example.org/login'));
    at.replaced.set(third, json(at.metadata));
    expect(await flow.find(at.url)).toMatchObject({ issuer: at.issuer });
    expect(at.requests.slice(2)).toEqual([`GET ${first}`, `GET ${second}`, `GET ${third}`]);
  });

  it('[UP-4] are not requested from the server again if a call has its challenge', async () => {
    const at = new OauthUpstream('told');
    const found = await flow.find(at.url, { challenge: { scope: 'a b' } });
    expect(found).toMatchObject({ scope: 'a b', issuer: at.issuer });
    expect(at.requests).not.toContain(`POST ${at.url}`);
  });
});

describe('the issuer', () => {
  it.each([
    ['https://attacker.example.com', 'another'],
    ['%/', 'with a slash'],
    ['%:443', 'with its port'],
    ['%X', 'in other letters'],
    [undefined, 'not there'],
  ])('[UP-4] [SEC-5] %s in its metadata is refused: %s', async (issuer, _what) => {
    const at = new OauthUpstream('mismatch');
    at.metadata['issuer'] = issuer?.replace('%X', at.issuer.toUpperCase()).replace('%', at.issuer);
    await expect(flow.find(at.url)).rejects.toMatchObject({
      code: 'credential_unavailable',
      message: 'The metadata of the authorization server names another issuer',
    });
  });

  it('[UP-4] may end with a slash on both sides', async () => {
    const at = new OauthUpstream('slashed');
    at.metadata['issuer'] = `${at.issuer}/`;
    at.resource = { resource: at.url, authorization_servers: [`${at.issuer}/`] };
    expect(await flow.find(at.url)).toMatchObject({ issuer: `${at.issuer}/` });
  });

  it('[UP-4] [SEC-1] of an own client is the only one used, and may be one that the server does not name', async () => {
    const at = new OauthUpstream('own-client');
    at.resource = {
      resource: at.url,
      authorization_servers: ['https://other.example.com', at.issuer],
    };
    expect(await flow.find(at.url, { issuer: at.issuer })).toMatchObject({ issuer: at.issuer });
    at.resource = { resource: at.url, authorization_servers: ['https://other.example.com'] };
    await expect(flow.find(at.url, { issuer: at.issuer })).rejects.toBeInstanceOf(OtherIssuer);
    at.replaced.set(`${at.origin}${PROTECTED}/mcp`, missing);
    expect(await flow.find(at.url, { issuer: at.issuer })).toMatchObject({
      issuer: at.issuer,
      resource: at.url,
    });
  });
});

describe('an authorization server', () => {
  it.each<[string, object, string]>([
    ['without PKCE', { code_challenge_methods_supported: undefined }, 'PKCE with S256'],
    ['with plain PKCE only', { code_challenge_methods_supported: ['plain'] }, 'PKCE with S256'],
    [
      'without a place to sign in',
      { authorization_endpoint: undefined },
      'no valid authorization endpoint',
    ],
    [
      'whose place is no address',
      { authorization_endpoint: 'here' },
      'no valid authorization endpoint',
    ],
    ['without a token endpoint', { token_endpoint: 7 }, 'no valid authorization endpoint'],
  ])('[UP-4] [SEC-5] %s is refused, with the reason', async (_what, changed, reason) => {
    const at = new OauthUpstream('unfit');
    Object.assign(at.metadata, changed);
    await expect(flow.find(at.url)).rejects.toThrow(reason);
  });

  it('[UP-4] that is not named is not guessed', async () => {
    const at = new OauthUpstream('unnamed');
    at.replaced.set(`${at.origin}${PROTECTED}/mcp`, missing);
    at.replaced.set(
      `${at.origin}/.well-known/oauth-authorization-server`,
      json({ issuer: at.origin }),
    );
    await expect(flow.find(at.url)).rejects.toThrow('names no authorization server');
    expect(at.requests).toHaveLength(3);
  });

  it.each<[string, (at: OauthUpstream) => object, string]>([
    ['another origin', () => ({ resource: 'https://evil.example.com/mcp' }), 'another resource'],
    ['another path', at => ({ resource: `${at.origin}/mc` }), 'another resource'],
    ['a fragment', at => ({ resource: `${at.url}#x` }), 'another resource'],
    ['no text', () => ({ resource: 7 }), 'another resource'],
  ])('[UP-4] [SEC-3] is not asked if the resource is of %s', async (_what, resource, reason) => {
    const at = new OauthUpstream('other-resource');
    at.resource = { authorization_servers: [at.issuer], ...resource(at) };
    await expect(flow.find(at.url)).rejects.toThrow(reason);
    expect(at.requests).toHaveLength(2);
  });

  it.each([
    ['in the challenge', 'http://169.254.169.254/meta', undefined],
    ['in the resource', undefined, 'https://10.0.0.1'],
    ['on loopback', undefined, 'http://localhost:8080'],
  ])('[UP-4] [SEC-3] at a private address %s is not contacted', async (_what, named, issuer) => {
    const at = new OauthUpstream('private');
    if (named) at.challenge = `Bearer resource_metadata="${named}"`;
    at.resource = { resource: at.url, authorization_servers: [issuer ?? at.issuer] };
    await expect(flow.find(at.url)).rejects.toThrow('is not allowed');
  });
});

describe('of several authorization servers', () => {
  const withTwo = (name: string) => {
    const at = new OauthUpstream(name);
    const first = `${new URL(at.issuer).origin}/first`;
    const place = `${new URL(at.issuer).origin}/.well-known/oauth-authorization-server/first`;
    at.resource = { resource: at.url, authorization_servers: [first, at.issuer] };
    return { at, first, place };
  };

  it('[UP-4] the first suitable one is used', async () => {
    const { at, first, place } = withTwo('several');
    expect(await flow.find(at.url)).toMatchObject({ issuer: at.issuer });
    at.replaced.set(
      place,
      json({ ...at.metadata, issuer: first, code_challenge_methods_supported: [] }),
    );
    expect(await flow.find(at.url)).toMatchObject({ issuer: at.issuer });
    at.replaced.set(place, json({ ...at.metadata, issuer: first }));
    expect(await flow.find(at.url)).toMatchObject({ issuer: first });
  });

  it.each<[string, () => Response]>([
    ['fails', () => new Response('no', { status: 503 })],
    [
      'cannot be reached',
      () => {
        throw new TypeError('reset');
      },
    ],
  ])('[UP-4] one that %s does not send people to the next', async (_what, answer) => {
    const { at, place } = withTwo('failing');
    at.replaced.set(place, answer);
    await expect(flow.find(at.url)).rejects.toThrow(
      /is failing; try again later|cannot be reached/,
    );
  });

  it('[UP-4] the reason is that of the first if none is suitable', async () => {
    const { at, first, place } = withTwo('none-fits');
    at.replaced.set(
      place,
      json({ ...at.metadata, issuer: first, code_challenge_methods_supported: [] }),
    );
    at.metadata['issuer'] = 'https://attacker.example.com';
    await expect(flow.find(at.url)).rejects.toThrow('PKCE with S256');
  });
});

describe('the scope', () => {
  it.each<[string, string, unknown, unknown, string | undefined]>([
    ['that of the challenge', ' scope="a b"', ['c'], undefined, 'a b'],
    ['else all of the resource', '', ['c', 'd'], undefined, 'c d'],
    ['else none', '', undefined, ['a'], undefined],
    ['none of an empty list', '', [], ['offline_access'], undefined],
    [
      'one for refresh tokens where the issuer has it',
      ' scope="a"',
      undefined,
      ['x', 'offline_access'],
      'a offline_access',
    ],
    ['none where it has not', '', ['a'], ['a'], 'a'],
    ['not twice', '', ['offline_access', 'a'], ['offline_access'], 'offline_access a'],
  ])('[UP-4] is %s', async (_what, parameter, scopes, ofIssuer, scope) => {
    const at = new OauthUpstream('scoped');
    at.challenge = `Bearer${parameter}`;
    at.resource = { ...at.resource, scopes_supported: scopes };
    at.metadata['scopes_supported'] = ofIssuer;
    expect((await flow.find(at.url)).scope).toBe(scope);
  });
});
