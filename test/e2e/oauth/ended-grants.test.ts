/** A grant that ends takes what its program has open with it: a listener of the modern era, the stream of a session. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headersFor, modernHeaders, open, openModern, requestBody } from '../support/raw-client.ts';
import { REDIRECT, startSignInGateway, type SignInGateway } from '../support/signing-in.ts';

const ENDED_WITHIN_MS = 1_000;
let stand: SignInGateway;

beforeAll(async () => {
  stand = await startSignInGateway();
});
afterAll(() => stand?.stop());

/** A person lets the program in, which asks by hand. @returns its access token */
async function signIn(): Promise<string> {
  const { gateway, person, document } = stand;
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: document.id,
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const answer = new URL(await person.allow(`${gateway.origin}/authorize?${query}`));
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: document.id,
    code: answer.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
    code_verifier: verifier,
  });
  const given = await fetch(`${gateway.origin}/token`, { method: 'POST', body });
  return ((await given.json()) as { access_token: string }).access_token;
}

/** Opens the stream of a kind. */
const STREAMS: Record<string, (token: string) => Promise<Response>> = {
  'a session at /mcp': async token => {
    const target = { url: `${stand.gateway.origin}/mcp`, token };
    const { sessionId = '' } = await open('legacy', target);
    const headers = headersFor(target, { 'mcp-session-id': sessionId });
    headers.set('accept', 'text/event-stream');
    return fetch(target.url, { headers });
  },
  'a listener at /mcp': token => {
    const target = { url: `${stand.gateway.origin}/mcp`, token };
    const method = 'subscriptions/listen';
    const params = '{"notifications":{"toolsListChanged":true}}';
    const body = requestBody('modern', method, params, 1);
    const headers = headersFor(target, modernHeaders(method));
    return fetch(target.url, { method: 'POST', headers, body });
  },
};

describe.each(Object.entries(STREAMS))('%s', (_name, openStream) => {
  it('[ACC-5] [ACC-1] ends within a second of its grant, and is asked to sign in again', async () => {
    const token = await signIn();
    const stream = await openStream(token);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/event-stream'),
    ]);
    let bytes = 0;
    const first = Promise.withResolvers<void>();
    const read = async () => {
      for await (const chunk of stream.body ?? []) {
        bytes += chunk.length;
        first.resolve();
      }
    };
    const ended = read().then(() => performance.now());
    await first.promise;
    expect(bytes).toBeGreaterThan(0);
    const [grant = ''] = await stand.grantsOf(stand.document.id);
    const startedAt = performance.now();
    expect((await stand.gateway.api('DELETE', `/api/v1/grants/${grant}`)).status).toBe(204);
    expect((await ended) - startedAt).toBeLessThan(ENDED_WITHIN_MS);
    const again = await openModern({ url: `${stand.gateway.origin}/mcp`, token }).request(
      'tools/list',
    );
    expect([again.status, again.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata='),
    ]);
  });
});
