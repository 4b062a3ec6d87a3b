/** A plain OAuth client written by others: it reads the metadata, uses PKCE, refreshes and revokes, and validates every response itself. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  dynamicClientRegistration,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  ResponseBodyError,
  tokenRevocation,
  type Configuration,
} from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAllTools, open, textOf } from '../support/raw-client.ts';
import { REDIRECT, startSignInGateway, type SignInGateway } from '../support/signing-in.ts';

let stand: SignInGateway;
let configuration: Configuration;

beforeAll(async () => {
  stand = await startSignInGateway();
  configuration = await discovery(
    new URL(stand.gateway.origin),
    stand.document.id,
    undefined,
    None(),
    { algorithm: 'oauth2', execute: [allowInsecureRequests] },
  );
});
afterAll(() => stand?.stop());

const modern = (token: string, path = '/mcp') =>
  open('modern', { url: `${stand.gateway.origin}${path}`, token });

/** Authorises the client, as a person. @param more parameters of the request */
async function signIn(more: Record<string, string> = {}) {
  const [pkceCodeVerifier, expectedState] = [randomPKCECodeVerifier(), randomState()];
  const address = buildAuthorizationUrl(configuration, {
    redirect_uri: REDIRECT,
    scope: 'tools:read tools:call',
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    resource: `${stand.gateway.origin}/mcp`,
    ...more,
  });
  const answer = new URL(await stand.person.allow(address.href));
  const checks = { pkceCodeVerifier, expectedState };
  return { answer, checks, tokens: () => authorizationCodeGrant(configuration, answer, checks) };
}

const refused = (error: string) => (thrown: unknown) =>
  thrown instanceof ResponseBodyError && thrown.error === error;

describe('openid-client', () => {
  it('[ACC-5] [ACC-7] signs in, calls, refreshes and revokes', async () => {
    const first = await (await signIn()).tokens();
    const client = await modern(first.access_token);
    expect((await listAllTools(client)).map(({ name }) => name)).toContain('rich.echo');
    expect(textOf(await client.call('rich.echo', { message: 'in' }))).toBe('Echo: in');

    const second = await refreshTokenGrant(configuration, first.refresh_token ?? '');
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const again = await modern(second.access_token);
    expect(textOf(await again.call('rich.echo', { message: 'again' }))).toBe('Echo: again');

    await tokenRevocation(configuration, second.refresh_token ?? '');
    await expect(refreshTokenGrant(configuration, second.refresh_token ?? '')).rejects.toSatisfy(
      refused('invalid_grant'),
    );
    const later = await again.request('tools/list');
    expect([later.status, later.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata='),
    ]);
  });

  it('[ACC-5] is told what is wrong with a used code', async () => {
    const { answer, checks, tokens } = await signIn();
    const { access_token: token } = await tokens();
    await expect(authorizationCodeGrant(configuration, answer, checks)).rejects.toSatisfy(
      refused('invalid_grant'),
    );
    expect((await (await modern(token)).request('tools/list')).status).toBe(401);
  });

  it('[ACC-5] has a token for one server that works there and nowhere else', async () => {
    const { tokens } = await signIn({ resource: `${stand.gateway.origin}/mcp/servers/rich` });
    const { access_token: token } = await tokens();
    const own = await modern(token, '/mcp/servers/rich');
    expect(textOf(await own.call('echo', { message: 'here' }))).toBe('Echo: here');
    expect((await (await modern(token)).request('tools/list')).status).toBe(401);
  });

  describe('with a code that it shows', () => {
    let device: Configuration;
    beforeAll(async () => {
      device = await dynamicClientRegistration(
        new URL(stand.gateway.origin),
        {
          client_name: 'A headless program',
          redirect_uris: [REDIRECT],
          grant_types: [
            'authorization_code',
            'refresh_token',
            'urn:ietf:params:oauth:grant-type:device_code',
          ],
          token_endpoint_auth_method: 'none',
        },
        None(),
        { algorithm: 'oauth2', execute: [allowInsecureRequests] },
      );
    });
    const begin = () =>
      initiateDeviceAuthorization(device, {
        scope: 'tools:read tools:call',
        resource: `${stand.gateway.origin}/mcp`,
      });

    it('[ACC-5] [ACC-7] is authorised, calls and refreshes', async () => {
      const shown = await begin();
      // Polls as fast as the server allows: the server itself says how long to wait.
      const polling = pollDeviceAuthorizationGrant(device, { ...shown, interval: 1 });
      const said = await stand.person.decideDevice(shown.verification_uri_complete ?? '');
      expect(said).toContain('A headless program');
      const first = await polling;
      const client = await modern(first.access_token);
      expect(textOf(await client.call('rich.echo', { message: 'in' }))).toBe('Echo: in');
      const second = await refreshTokenGrant(device, first.refresh_token ?? '');
      const again = await modern(second.access_token);
      expect(textOf(await again.call('rich.echo', { message: 'again' }))).toBe('Echo: again');
    });

    it('[ACC-5] is told that it was refused', async () => {
      const shown = await begin();
      const polling = pollDeviceAuthorizationGrant(device, { ...shown, interval: 1 });
      const outcome = polling.catch((error: unknown) => error);
      await stand.person.decideDevice(shown.verification_uri_complete ?? '', 'deny');
      expect(await outcome).toSatisfy(refused('access_denied'));
    });
  });
});
