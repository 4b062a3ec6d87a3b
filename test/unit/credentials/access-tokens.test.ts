/** When a server's access token is fetched: never twice at once, before the old one expires, and with backoff after failures. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { NO_CREDENTIAL, type AccessToken } from '../../../src/credentials/credential-schema.ts';
import { AccessTokens } from '../../../src/credentials/oauth/access-tokens.ts';
import type { GrantPort, GrantRequest } from '../../../src/credentials/oauth/grant-schema.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { OpenedCredentials } from '../../../src/credentials/opened-credentials.ts';
import { sealCredential } from '../../../src/credentials/sealed-credential.ts';

const keys = createKeyRing(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
);
const LIFETIME_MS = 1_000_000;
const START = 1_800_000_000_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: START }));
afterEach(() => vi.useRealTimers());

async function setUp(auth: object = {}) {
  const requests: GrantRequest[] = [];
  let answer = async (): Promise<string> => `token-${requests.length}`;
  const grants: GrantPort = {
    find: (url, tokenUrl) =>
      Promise.resolve({
        url: tokenUrl ?? '',
        origin: new URL(tokenUrl ?? url).origin,
        method: 'basic',
        resource: url,
      }),
    request: async (_endpoint, request) => {
      requests.push(request);
      return { token: await answer(), lifetimeMs: LIFETIME_MS };
    },
  };
  const written: unknown[] = [];
  const write = (...what: unknown[]) => Promise.resolve(written.push(what));
  const records = { keep: write, drop: write };
  const credentials = new OpenedCredentials(keys);
  const owner = { id: 'server-1', url: 'https://a.example.com/mcp' };
  const given = { type: 'client_credentials', client_id: 'id', client_secret: 'secret', ...auth };
  const token_url = 'https://b.example.com/token';
  const authSealed = await sealCredential(keys, owner, 'auth', {
    ...given,
    token_url,
  } as never);
  const server = { ...owner, credential: { ...NO_CREDENTIAL, authSealed, revision: 2 } };
  const make = () => new AccessTokens({ records, keys, grants });
  const tokens = make();
  const get = async (from = tokens) => from.of(server, await credentials.of(server));
  const textOf = (token: AccessToken) => credentials.openToken(server, token);
  return {
    requests,
    written,
    server,
    tokens,
    make,
    get,
    textOf,
    answerWith: (next: () => Promise<string>) => (answer = next),
  };
}

const fails = (detail: string) => () =>
  Promise.reject(new PorticoError('credential_unavailable', detail));

describe('an access token', () => {
  it('[UP-4] is fetched once for all concurrent callers', async () => {
    const { get, requests, textOf, written } = await setUp();
    const got = await Promise.all(Array.from({ length: 100 }, () => get()));
    expect(new Set(got.map(({ serial }) => serial)).size).toBe(1);
    expect(await textOf(got[0] as AccessToken)).toBe('token-1');
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(written)).not.toContain('token-1');
  });

  it('[UP-4] is replaced after four fifths of its lifetime, not before', async () => {
    const { get, requests, tokens } = await setUp();
    const first = await get();
    expect(tokens.dueAt).toBe(START + LIFETIME_MS * 0.8);
    vi.setSystemTime(START + LIFETIME_MS * 0.8 - 1);
    expect(await get()).toBe(first);
    vi.setSystemTime(START + LIFETIME_MS * 0.8);
    expect(tokens.dueAt).toBeUndefined();
    expect((await get()).serial).toBeGreaterThan(first.serial);
    expect(requests).toHaveLength(2);
  });

  it('[UP-4] that is stored is used after the object lost its memory', async () => {
    const { get, make, requests, server } = await setUp();
    server.credential.accessToken = await get();
    expect(await get(make())).toEqual(server.credential.accessToken);
    expect(requests).toHaveLength(1);
  });

  it('[UP-4] is used until it expires while no new one can be fetched', async () => {
    const { get, answerWith } = await setUp();
    const first = await get();
    answerWith(fails('down'));
    vi.setSystemTime(START + LIFETIME_MS - 1);
    expect(await get()).toBe(first);
    vi.setSystemTime(START + LIFETIME_MS);
    await expect(get()).rejects.toMatchObject({ code: 'credential_unavailable', message: 'down' });
  });

  it('[UP-4] [SEC-4] that cannot be fetched is retried at growing intervals', async () => {
    const { get, answerWith, requests } = await setUp();
    answerWith(fails('down'));
    const askedAt: number[] = [];
    for (let ms = 0; ms < 300_000; ms += 100) {
      vi.setSystemTime(START + ms);
      const before = requests.length;
      await expect(get()).rejects.toMatchObject({ message: 'down' });
      if (requests.length > before) askedAt.push(ms / 1_000);
    }
    expect(askedAt.slice(0, 7)).toEqual([0, 1, 3, 7, 15, 31, 63]);
    expect(askedAt.slice(7)).toEqual([123, 183, 243]);
  });

  it('[UP-4] that was refused is replaced at once, and once for all callers that report it', async () => {
    const { get, tokens, server, requests } = await setUp();
    const first = await get();
    await Promise.all(Array.from({ length: 50 }, () => tokens.refuse(server, first.serial)));
    const second = await get();
    expect(requests).toHaveLength(2);
    await tokens.refuse(server, first.serial);
    expect(await get()).toBe(second);
  });

  it('[UP-4] [SEC-4] that is refused again and again causes a bounded number of requests', async () => {
    const { get, tokens, server, requests } = await setUp();
    for (let ms = 0; ms < 60_000; ms += 100) {
      vi.setSystemTime(START + ms);
      const token = await get().catch(() => undefined);
      if (token) await tokens.refuse(server, token.serial);
    }
    expect(requests.length).toBeLessThanOrEqual(8);
    await expect(get()).rejects.toThrow('The server refused the access token');
  });

  it('[SEC-2] hides the details of an unexpected failure', async () => {
    const { get, answerWith } = await setUp();
    answerWith(() => Promise.reject(new Error('secret in a stack')));
    await expect(get()).rejects.toThrow('No access token could be fetched');
  });

  it('[UP-4] is requested with the parameters of the configuration', async () => {
    const { get, requests } = await setUp({ scope: 'a b', audience: 'x', resource: 'urn:r:s' });
    await get();
    expect(requests).toEqual([
      {
        clientId: 'id',
        clientSecret: 'secret',
        parameters: { resource: 'urn:r:s', scope: 'a b', audience: 'x' },
      },
    ]);
  });
});
