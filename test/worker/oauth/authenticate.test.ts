/** Client authentication at the token endpoint: each method with a client that may use it, and every way to be refused. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { countByKey } from '../../../src/credentials/rotation-store.ts';
import { ASSERTION_TYPE } from '../../../src/oauth/clients/client-credentials.ts';
import { createOAuthClients } from '../../../src/oauth/clients/create-clients.ts';
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { DOCUMENTS } from '../../fixtures/oauth-clients.ts';
import { fakeUpstreams, type FakeUpstream } from '../support/fake-upstreams.ts';

const ISSUER = 'https://gateway.example.com';
const CHATGPT = 'https://chatgpt.com/oauth/6f1c/client.json';
const KEYS = 'https://chatgpt.com/oauth/jwks.json';
const key = (fill: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(fill)));
const ringOf = (active: string, ...ids: number[]) =>
  createKeyRing(
    JSON.stringify({ active, keys: Object.fromEntries(ids.map(id => [`k${id}`, key(id)])) }),
  );
let now = Date.now();
const isolate = (keys = ringOf('k1', 1)) =>
  createOAuthClients({ db: env.DB, keys, config: { allowsLoopback: false }, now: () => now });
type Clients = ReturnType<typeof isolate>;
type Form = Record<string, string>;

const ask = (at: Clients, form: Form, headers: Record<string, string> = {}) =>
  at.authenticate(new Headers(headers), new URLSearchParams(form), ISSUER).then(
    ({ id }) => id,
    (error: { code: string }) => error.code,
  );
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${btoa(`${id}:${secret}`)}`,
});

async function register(at: Clients, method: string, more: object = {}) {
  const metadata = { redirect_uris: ['https://app.example.com/cb'], ...more };
  const response = await at.register(
    new Request(`${ISSUER}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...metadata, token_endpoint_auth_method: method }),
    }),
  );
  expect(response.status).toBe(201);
  const made = await response.json<{ client_id: string; client_secret?: string }>();
  return { id: made.client_id, secret: made.client_secret ?? '' };
}

const encode = (part: unknown) => toBase64Url(new TextEncoder().encode(JSON.stringify(part)));
async function signer(kid?: string) {
  const how = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const pair = await crypto.subtle.generateKey(how, true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('no pair');
  const jwk = { ...(await crypto.subtle.exportKey('jwk', pair.publicKey)), kid };
  return {
    jwk,
    async sign(id: string, change: object = {}, header: object = {}): Promise<string> {
      const exp = Math.floor(now / 1000) + 120;
      const claims = { iss: id, sub: id, aud: ISSUER, exp, jti: crypto.randomUUID(), ...change };
      const signed = `${encode({ alg: 'ES256', kid, ...header })}.${encode(claims)}`;
      const bytes = new TextEncoder().encode(signed);
      const signature = await crypto.subtle.sign(how, pair.privateKey, bytes);
      return `${signed}.${toBase64Url(new Uint8Array(signature))}`;
    },
  };
}
const assertion = (text: string, more: Form = {}): Form => ({
  client_assertion_type: ASSERTION_TYPE,
  client_assertion: text,
  ...more,
});

beforeEach(async () => {
  now = Date.now();
  for (const table of ['oauth_clients', 'oauth_assertions'])
    await env.DB.exec(`DELETE FROM ${table}`);
});

describe('a client without a secret', () => {
  it('[ACC-5] is identified by its id, and unknown ones are refused', async () => {
    const clients = isolate();
    const { id } = await register(clients, 'none');
    expect(await ask(clients, { client_id: id })).toBe(id);
    expect(await ask(clients, { client_id: `${id}x` })).toBe('invalid_client');
    expect(await ask(clients, { client_id: 'x'.repeat(3_000) })).toBe('invalid_client');
    expect(await ask(clients, { client_id: id, client_secret: 's' })).toBe('invalid_client');
    expect(await ask(clients, {}, basic(id, 's'))).toBe('invalid_client');
    await env.DB.exec('DELETE FROM oauth_clients');
    expect(await ask(clients, { client_id: id })).toBe('invalid_client');
  });
});

describe('a client with a secret', () => {
  it.each(['client_secret_basic', 'client_secret_post'])(
    '[ACC-5] registered for %s may send it in either way, and never without',
    async method => {
      const clients = isolate();
      const { id, secret } = await register(clients, method);
      expect(await ask(clients, {}, basic(id, secret))).toBe(id);
      expect(await ask(clients, { client_id: id }, basic(id, secret))).toBe(id);
      expect(await ask(clients, { client_id: id, client_secret: secret })).toBe(id);
      const other = await register(clients, method);
      const refused: [Form, Record<string, string>?][] = [
        [{ client_id: id }],
        [{ client_id: id, client_secret: `${secret}x` }],
        [{ client_id: id, client_secret: secret.slice(0, -1) }],
        [{ client_id: id, client_secret: other.secret }],
        [{ client_id: id, client_secret: 'x'.repeat(10_000) }],
        [{}, basic(other.id, secret)],
        [assertion(await (await signer()).sign(id))],
      ];
      for (const [form, headers] of refused) {
        expect([form, await ask(clients, form, headers)]).toEqual([form, 'invalid_client']);
      }
      const twice = { client_id: id, client_secret: secret };
      expect(await ask(clients, twice, basic(id, secret))).toBe('invalid_request');
    },
  );

  it('[ACC-5] [SEC-1] keeps it through a rotation: it moves to the active key when it is used', async () => {
    const first = isolate(ringOf('k1', 1));
    const { id, secret } = await register(first, 'client_secret_post');
    const form = { client_id: id, client_secret: secret };
    await register(first, 'client_secret_post');
    const counted = async () =>
      (await countByKey(env.DB, now)).filter(({ kind }) => kind === 'token');
    expect(await counted()).toEqual([{ kind: 'token', keyId: 'k1', count: 2 }]);
    const keyOf = () =>
      env.DB.prepare('SELECT key_id FROM oauth_clients WHERE id = ?').bind(id).first('key_id');
    expect(await ask(isolate(ringOf('k3', 3)), form)).toBe('invalid_client');
    const both = Array.from({ length: 4 }, () => isolate(ringOf('k2', 1, 2)));
    expect(await Promise.all(both.map(at => ask(at, form)))).toEqual(both.map(() => id));
    expect(await keyOf()).toBe('k2');
    expect(await counted()).toEqual(
      ['k1', 'k2'].map(keyId => ({ kind: 'token', keyId, count: 1 })),
    );
    expect(await ask(isolate(ringOf('k2', 2)), form)).toBe(id);
    expect(await ask(first, form)).toBe('invalid_client');
  });
});

describe('a client that signs', () => {
  async function chatgpt(at: Clients, handle?: FakeUpstream) {
    const own = await signer('a');
    const document = DOCUMENTS[CHATGPT]?.metadata;
    const seen = fakeUpstreams({
      'https://chatgpt.com': request => {
        if (request.url !== KEYS) return Response.json(document);
        return handle?.(request) ?? Response.json({ keys: [own.jwk] });
      },
    });
    return { own, asked: () => seen.filter(each => each.endsWith(KEYS)).length, at };
  }

  it('[ACC-5] is ChatGPT with its key, or by its document alone', async () => {
    const clients = isolate();
    const { own, asked } = await chatgpt(clients);
    for (const more of [{}, { client_id: CHATGPT }]) {
      expect(await ask(clients, assertion(await own.sign(CHATGPT), more))).toBe(CHATGPT);
    }
    const aud = `${ISSUER}/token`;
    expect(await ask(clients, assertion(await own.sign(CHATGPT, { aud })))).toBe(CHATGPT);
    expect(asked()).toBe(1);
    expect(await ask(clients, { client_id: CHATGPT })).toBe(CHATGPT);
  });

  it('[ACC-5] is refused for any single error', async () => {
    const clients = isolate();
    const { own } = await chatgpt(clients);
    const other = await signer('a');
    const good = await own.sign(CHATGPT);
    const [head, body, tail] = good.split('.');
    const seconds = Math.floor(now / 1000);
    const wrong: Form[] = [
      assertion(await other.sign(CHATGPT)),
      assertion(await own.sign(CHATGPT, { aud: 'https://other.example.com' })),
      assertion(await own.sign(CHATGPT, { iss: 'https://other.example.com' })),
      assertion(await own.sign(CHATGPT, { exp: seconds - 61 })),
      assertion(await own.sign(CHATGPT, { exp: seconds + 600 })),
      assertion(await own.sign(CHATGPT, { nbf: seconds + 600 })),
      assertion(await own.sign(CHATGPT), { client_id: 'https://chatgpt.com/oauth/other' }),
      assertion(await own.sign(CHATGPT, {}, { kid: 'b' })),
      assertion(await own.sign(CHATGPT, {}, { alg: 'none' })),
      assertion(await own.sign(CHATGPT, {}, { alg: 'RS256' })),
      assertion(await own.sign(CHATGPT, {}, { crit: ['x'] })),
      assertion(`${encode({ alg: 'ES256', kid: 'a' })}.${body}x.${tail}`),
      assertion(`${head}.${encode({ iss: CHATGPT, sub: CHATGPT, aud: ISSUER })}.${tail}`),
      assertion(`${head}.${body}.`),
      assertion(good, { client_assertion_type: 'urn:other' }),
    ];
    for (const form of wrong)
      expect([form, await ask(clients, form)]).toEqual([form, 'invalid_client']);
    const two = assertion(good, { client_secret: 's' });
    expect(await ask(clients, two)).toBe('invalid_request');
    expect(await ask(clients, assertion(good))).toBe(CHATGPT);
  });

  it('[ACC-5] must sign anew each time: of one assertion at many isolates one is accepted', async () => {
    const clients = isolate();
    const { own } = await chatgpt(clients);
    for (const change of [{}, { jti: undefined }]) {
      const form = assertion(await own.sign(CHATGPT, change));
      const isolates = [clients, ...Array.from({ length: 7 }, () => isolate())];
      const taken = await Promise.all(isolates.map(at => ask(at, form)));
      expect(taken.filter(answer => answer === CHATGPT)).toHaveLength(1);
      expect(taken.filter(answer => answer === 'invalid_client')).toHaveLength(7);
    }
    now += 400_000;
    expect(await ask(clients, assertion(await own.sign(CHATGPT)))).toBe(CHATGPT);
    expect(await env.DB.prepare('SELECT count(*) AS n FROM oauth_assertions').first('n')).toBe(1);
  });

  it('[ACC-5] may use a new key at once, and unknown keys cause no flood of requests', async () => {
    const clients = isolate();
    const [former, later] = [await signer('old'), await signer('new')];
    let keys = [former.jwk];
    const { asked } = await chatgpt(clients, () => Response.json({ keys }));
    expect(await ask(clients, assertion(await former.sign(CHATGPT)))).toBe(CHATGPT);
    keys = [later.jwk];
    now += 61_000;
    expect(await ask(clients, assertion(await later.sign(CHATGPT)))).toBe(CHATGPT);
    expect(asked()).toBe(2);
    for (let i = 0; i < 20; i += 1) {
      const unknown = await former.sign(CHATGPT, {}, { kid: `x${i}` });
      expect(await ask(clients, assertion(unknown))).toBe('invalid_client');
    }
    expect(asked()).toBe(2);
    // A withdrawn key is no longer accepted.
    expect(await ask(clients, assertion(await former.sign(CHATGPT)))).toBe('invalid_client');
  });

  it('[ACC-5] [SEC-9] in use is not delayed by the slow keys of strangers, in whatever number', async () => {
    const clients = isolate();
    const own = await signer('a');
    const never = () => new Promise<Response>(() => {});
    fakeUpstreams({
      'https://slow.example.com': never,
      'https://chatgpt.com': ({ url }) =>
        Response.json(url === KEYS ? { keys: [own.jwk] } : DOCUMENTS[CHATGPT]?.metadata),
    });
    const client = await clients.find(CHATGPT);
    if (client) await clients.touch(client, now);
    const jwksUri = (at: number) => ({ jwks_uri: `https://slow.example.com/${at}` });
    const slow = Array.from({ length: 40 }, async (_, at) => {
      const { id } = await register(clients, 'private_key_jwt', jwksUri(at));
      return ask(clients, assertion(await own.sign(id)));
    });
    await scheduler.wait(500);
    expect(await ask(clients, assertion(await own.sign(CHATGPT)))).toBe(CHATGPT);
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['temporarily_unavailable']));
  });

  it.each<[string, FakeUpstream, string]>([
    ['are down', () => new Response('no', { status: 502 }), 'temporarily_unavailable'],
    ['are not reached', () => Promise.reject(new Error('down')), 'temporarily_unavailable'],
    ['are elsewhere', () => Response.redirect('https://evil.example.com/jwks'), 'invalid_client'],
    ['are too many', () => Response.json({ keys: [], more: 'x'.repeat(65_536) }), 'invalid_client'],
    ['are none', () => Response.json({}), 'invalid_client'],
    ['are a page', () => new Response('<html>'), 'invalid_client'],
  ])('[ACC-5] [SEC-3] whose keys %s is %s', async (_what, handle, code) => {
    const clients = isolate();
    const { own } = await chatgpt(clients, handle);
    expect(await ask(clients, assertion(await own.sign(CHATGPT)))).toBe(code);
  });

  it('[ACC-5] [SEC-3] may include its keys itself; nothing is fetched from a private address', async () => {
    const clients = isolate();
    const own = await signer();
    const seen = fakeUpstreams({ 'https://10.0.0.1': () => Response.json({ keys: [own.jwk] }) });
    const inline = await register(clients, 'private_key_jwt', { jwks: { keys: [own.jwk] } });
    expect(await ask(clients, assertion(await own.sign(inline.id)))).toBe(inline.id);
    expect(await ask(clients, { client_id: inline.id })).toBe('invalid_client');
    const { id } = await register(clients, 'private_key_jwt', {
      jwks_uri: 'https://10.0.0.1/jwks',
    });
    expect(await ask(clients, assertion(await own.sign(id)))).toBe('invalid_client');
    expect(seen).toEqual([]);
  });
});
