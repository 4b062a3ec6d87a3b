/** Servers elsewhere that name addresses of the gateway's own machine, where servers may be on it: nothing there is requested. */
import { describe, expect, it } from 'vitest';
import { ClientCredentials } from '../../../src/credentials/oauth/client-credentials.ts';
import { CodeFlow } from '../../../src/credentials/oauth/code-flow.ts';
import { answerOf, CLIENT, GIVEN, good, placeOf, REQUEST } from '../support/code-flow.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { OauthUpstream } from '../support/oauth-upstream.ts';

const HERE = 'http://127.0.0.1:9';
const NOT_ALLOWED = 'The address of the authorization server is not allowed';
const flow = new CodeFlow(true);
const credentials = new ClientCredentials(true);

/** Answers at the machine's own address, with the metadata of a server and of its authorization server. */
const here = () =>
  fakeUpstreams({
    [HERE]: ({ url, method }) =>
      method === 'POST'
        ? Response.json({ client_id: 'c', access_token: 'at-1', token_type: 'Bearer' })
        : Response.json({
            ...(url.includes('resource')
              ? { resource: `${HERE}/mcp`, authorization_servers: [HERE] }
              : { issuer: HERE }),
            authorization_endpoint: `${HERE}/authorize`,
            token_endpoint: `${HERE}/token`,
            registration_endpoint: `${HERE}/register`,
            code_challenge_methods_supported: ['S256'],
          }),
  });

describe('a server elsewhere', () => {
  it('[UP-4] [SEC-3] may not name its metadata or its authorization server on this machine', async () => {
    const at = new OauthUpstream('names-here');
    at.resource = { resource: at.url, authorization_servers: [HERE] };
    await expect(flow.find(at.url)).rejects.toThrow(NOT_ALLOWED);
    await expect(credentials.find(at.url, undefined)).rejects.toThrow(NOT_ALLOWED);
    at.challenge = `Bearer resource_metadata="${HERE}/meta"`;
    await expect(flow.find(at.url)).rejects.toThrow(NOT_ALLOWED);
  });

  it('[UP-4] [SEC-3] may not name an endpoint of its authorization server on this machine', async () => {
    const at = new OauthUpstream('leads-here');
    Object.assign(at.metadata, {
      authorization_endpoint: `${HERE}/authorize`,
      token_endpoint: `${HERE}/token`,
      registration_endpoint: `${HERE}/register`,
      revocation_endpoint: `${HERE}/revoke`,
    });
    const found = await flow.find(at.url);
    const place = placeOf(found);
    const back = answerOf({ ...good, iss: found.issuer });
    for (const request of [
      () => flow.register(found, GIVEN),
      () => flow.toAuthorizationUrl(found, CLIENT, REQUEST),
      () => flow.exchange(found, CLIENT, REQUEST, back),
      () => flow.refresh(place, CLIENT, 'rt-1'),
      () => flow.revoke(place, CLIENT, 'rt-1'),
      () => credentials.find(at.url, undefined),
    ]) {
      await expect(request()).rejects.toThrow(NOT_ALLOWED);
    }
  });
});

it('[UP-4] a server on this machine may name both', async () => {
  const seen = here();
  const { issuer } = await flow.find(`${HERE}/mcp`);
  expect(issuer).toBe(HERE);
  expect(await credentials.find(`${HERE}/mcp`, undefined)).toMatchObject({ url: `${HERE}/token` });
  expect(seen).toContain(`POST ${HERE}/mcp`);
});
