/** Two people at one server behind `oidc-provider`, each under their own name, by every way in which a client can come to be. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { startOauthUpstream, type OauthUpstream } from '../support/oauth-upstream.ts';
import { ConnectingPerson } from '../support/connecting.ts';

const DOCUMENT = 'https://portico.example.com/oauth/client-metadata.json';
const SECRET = 'a-client-secret-of-the-operator';

let gateway: Gateway;
const upstreams: Record<string, OauthUpstream> = {};
const tokens: Record<string, string> = {};

beforeAll(async () => {
  gateway = await startGateway({ env: { PORTICO_CLIENT_DOCUMENT_URL: DOCUMENT } });
  const documentAt = (address: string) =>
    address.replace('https://portico.example.com', gateway.origin);
  const own = {
    client_id: 'portico-by-hand',
    client_secret: SECRET,
    redirect_uris: [`${gateway.origin}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  upstreams['registered'] = await startOauthUpstream();
  upstreams['document'] = await startOauthUpstream({
    takesDocuments: true,
    registers: false,
    documentAt,
  });
  upstreams['given'] = await startOauthUpstream({ registers: false, clients: [own] });
  for (const [name, { url, issuer }] of Object.entries(upstreams)) {
    const auth = {
      type: 'authorization_code',
      issuer,
      client_id: own.client_id,
      client_secret: SECRET,
    };
    const answer = await gateway.api('POST', '/api/v1/aggregator/servers', {
      name,
      transport_type: 'HTTP',
      connection_config: { url, ...(name === 'given' && { auth }) },
      accounts: 'per_principal',
    });
    if (answer.status !== 201) throw new Error(answer.text);
  }
  for (const name of ['ada', 'bob']) tokens[name] = (await gateway.createToken({ name })).token;
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(Object.values(upstreams).map(upstream => upstream.stop()));
});

const call = (server: string, name: string) =>
  gateway.api(
    'POST',
    '/api/v1/tools/call',
    { name: `${server}.whoami`, arguments: {} },
    tokens[name],
  );

describe.each(['registered', 'document', 'given'])('a client that is %s', server => {
  it('[ACC-8] two people sign in, and each call is under its own name', async () => {
    for (const name of ['ada', 'bob']) {
      const person = new ConnectingPerson(gateway.origin, tokens[name] ?? '');
      expect(await person.connect(server, name)).toContain(`Calls of <strong>${name}</strong>`);
    }
    const { json } = await gateway.api('GET', '/api/v1/accounts', undefined, tokens['ada']);
    expect(json['accounts']).toContainEqual(
      expect.objectContaining({
        server_name: server,
        issuer: upstreams[server]?.issuer,
        needs_sign_in: null,
      }),
    );
    for (const name of ['ada', 'bob']) {
      const answer = await call(server, name);
      expect(answer.text).toContain(`"text":"${name}"`);
    }
  });
});
