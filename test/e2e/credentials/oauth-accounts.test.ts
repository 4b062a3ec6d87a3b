/**
 * Two people at servers behind `oidc-provider`, each under their own name: with every way to obtain a client, across renewals and a kill.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { createRandom, drawn, SEED } from '../../unit/seeded.ts';
import { ConnectingPerson } from '../support/connecting.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { startOauthUpstream, type OauthUpstream } from '../support/oauth-upstream.ts';

const HOST = 'https://portico.example.com';
const SECRET = 'a-client-secret-of-the-operator';
const NAMES = ['ada', 'bob'];
/** Lifetime of the tokens of one of the servers, in seconds. */
const SHORT_S = 12;
const WAIT_MS = 20_000;
const random = createRandom();

let gateway: Gateway;
const upstreams: Record<string, OauthUpstream> = {};
const tokens: Record<string, string> = {};
const env = { PORTICO_CLIENT_DOCUMENT_URL: `${HOST}/oauth/client-metadata.json` };

beforeAll(async () => {
  gateway = await startGateway({ env });
  const documentAt = (address: string) => address.replace(HOST, gateway.origin);
  const own = {
    client_id: 'portico-by-hand',
    client_secret: SECRET,
    redirect_uris: [`${gateway.origin}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  const [registered, document, given, short] = await Promise.all([
    startOauthUpstream(),
    startOauthUpstream({ takesDocuments: true, registers: false, documentAt }),
    startOauthUpstream({ registers: false, clients: [own] }),
    startOauthUpstream({ accessTokenSeconds: SHORT_S }),
  ]);
  Object.assign(upstreams, { registered, document, given, short });
  const { client_id } = own;
  const { issuer } = given;
  const auth = { type: 'authorization_code', issuer, client_id, client_secret: SECRET };
  for (const [name, { url }] of Object.entries(upstreams)) {
    const answer = await gateway.api('POST', '/api/v1/aggregator/servers', {
      name,
      transport_type: 'HTTP',
      connection_config: { url, ...(name === 'given' && { auth }) },
      accounts: 'per_principal',
    });
    if (answer.status !== 201) throw new Error(answer.text);
  }
  for (const name of NAMES) tokens[name] = (await gateway.createToken({ name })).token;
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(Object.values(upstreams).map(upstream => upstream.stop()));
});

const call = async (server: string, name: string): Promise<string> => {
  const body = { name: `${server}.whoami`, arguments: {} };
  return (await gateway.api('POST', '/api/v1/tools/call', body, tokens[name])).text;
};
/** Makes many calls at once and returns the name under which each was made. */
const callAll = (server: string, names: readonly string[]) =>
  Promise.all(
    names.map(async name => {
      const text = await call(server, name);
      return /"text":"(\w+)"/.exec(text)?.[1] ?? text;
    }),
  );
const connect = (server: string, name: string) =>
  new ConnectingPerson(gateway.origin, tokens[name] ?? '').connect(server, name);
/** Connects an account for both people and waits until the first one has read the catalog. */
async function connectBoth(server: string): Promise<string[]> {
  const pages = [];
  for (const name of NAMES) pages.push(await connect(server, name));
  await until('the tools of the server', WAIT_MS, async () =>
    (await call(server, 'bob')).includes('"text":"bob"') ? true : undefined,
  );
  return pages;
}

describe.each(['registered', 'document', 'given'])('a client that is %s', server => {
  it(`[UP-4] [ACC-8] makes each of many calls under its own name, seed ${SEED}`, async () => {
    const pages = await connectBoth(server);
    expect(pages[0]).toContain('Calls of <strong>ada</strong>');
    expect(pages[1]).toContain('Calls of <strong>bob</strong>');
    for (let left = drawn(500); left > 0; left -= 100) {
      const names = Array.from({ length: Math.min(left, 100) }, () => random.pick(NAMES));
      expect(await callAll(server, names)).toEqual(names);
    }
  });

  it('[ACC-8] revokes a removed account at the server', async () => {
    const { json } = await gateway.api('GET', '/api/v1/accounts', undefined, tokens['ada']);
    const { issuer, revoked } = upstreams[server] as OauthUpstream;
    const accounts = json['accounts'] as { id: string; server_name: string; issuer: string }[];
    const account = accounts.find(({ server_name: name }) => name === server);
    expect(account).toMatchObject({ issuer, needs_sign_in: null });
    const path = `/api/v1/accounts/${account?.id}`;
    expect((await gateway.api('DELETE', path, undefined, tokens['ada'])).status).toBe(204);
    expect(revoked()).toBe(1);
    expect(await callAll(server, ['bob'])).toEqual(['bob']);
    expect(await call(server, 'ada')).toContain(`${gateway.origin}/connect/${server}`);
  });
});

describe('tokens that expire', () => {
  it('[ACC-8] 200 calls when two tokens expire renew each token once', async () => {
    const { grants } = upstreams['short'] as OauthUpstream;
    await connectBoth('short');
    await setTimeout(SHORT_S * 1_000);
    grants.length = 0;
    const names = Array.from({ length: 200 }, (_, i) => NAMES[i % 2] ?? '');
    expect(await callAll('short', names)).toEqual(names);
    expect(grants).toEqual(['refresh_token', 'refresh_token']);
  });

  it('[ACC-8] a gateway that is killed during a renewal loses no account', async () => {
    const { grants, loseRenewals } = upstreams['short'] as OauthUpstream;
    await setTimeout(SHORT_S * 1_000);
    grants.length = 0;
    loseRenewals(true);
    const cut = call('short', 'ada').catch(() => 'cut');
    await until('the renewal', WAIT_MS, async () => grants[0]);
    const { data, port, adminToken } = gateway;
    await gateway.kill();
    expect(await cut).toBe('cut');
    loseRenewals(false);
    gateway = await startGateway({ env, data, port, adminToken });
    expect(await call('short', 'ada')).toMatch(/account_required.*lost on the way/);
    expect(await callAll('short', ['bob'])).toEqual(['bob']);
    expect(await connect('short', 'ada')).toContain('Connected');
    expect(await callAll('short', NAMES)).toEqual(NAMES);
  });
});
