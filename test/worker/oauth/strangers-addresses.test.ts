/** Addresses of clients, which strangers name, on a team's server that may reach servers of its own machine: nothing there is fetched. */
import { expect, it } from 'vitest';
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { createPortico } from '../support/portico.ts';
import { authorizePath } from '../support/oauth-client.ts';

const TEAM = 'https://team.example.com';
const HERE = 'http://127.0.0.1:9';
const ID = `${HERE}/client.json`;
const redirect_uris = ['https://app.example.com/cb'];

const server = createPortico(
  { PORTICO_MODE: 'server', PORTICO_NETWORK: 'loopback', PORTICO_PUBLIC_URL: TEAM },
  TEAM,
);
const local = createPortico({ PORTICO_MODE: 'local' });
const seenHere = () =>
  fakeUpstreams({
    [HERE]: () => Response.json({ client_id: ID, client_name: 'App', redirect_uris }),
  });

it('[ACC-5] [SEC-3] a document on the machine is fetched only where nobody else reaches the gateway', async () => {
  const seen = seenHere();
  const path = authorizePath(ID, { redirect_uri: redirect_uris[0], resource: undefined });
  expect((await server.fetch(path)).status).toBe(401);
  expect(seen).toEqual([]);
  expect((await local.fetch(path)).status).toBe(303);
  expect(seen).toEqual([`GET ${ID}`]);
});

it('[ACC-5] [SEC-3] keys on the machine are not fetched for a client that registered', async () => {
  const seen = seenHere();
  const registered = await server.fetch('/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: `${HERE}/keys`,
    }),
  });
  const { client_id: id } = await registered.json<{ client_id: string }>();
  const part = (value: object) => toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
  const exp = Math.floor(Date.now() / 1000) + 60;
  const claims = { iss: id, sub: id, aud: TEAM, exp, jti: crypto.randomUUID() };
  const refused = await server.fetch('/token', {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: 'x',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: `${part({ alg: 'ES256' })}.${part(claims)}.${part({})}`,
    }),
  });
  expect(await refused.json()).toMatchObject({ error: 'invalid_client' });
  expect(seen).toEqual([]);
});
