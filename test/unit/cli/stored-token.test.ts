/**
 * The token of a login, with a gateway in the test: when it is renewed, which process's renewal counts, and which failures need no new
 * sign-in.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import {
  readLogin,
  toLoginFolder,
  writeLogin,
  type Login,
} from '../../../cli/src/login/login-store.ts';
import { storedToken } from '../../../cli/src/login/stored-token.ts';
import { sendWithToken, type TokenSource } from '../../../cli/src/login/token-source.ts';

const HOUR_MS = 3_600_000;
let home: string;
let folder: string;
const closing: (() => void)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'portico-login-'));
  folder = toLoginFolder({ XDG_CONFIG_HOME: home });
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  rmSync(home, { recursive: true });
});

interface Answer {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
}
const given = (name: string): Answer => ({
  body: JSON.stringify({
    access_token: `access-${name}`,
    refresh_token: `refresh-${name}`,
    token_type: 'Bearer',
    expires_in: 3600,
  }),
});
const refused = (error: string, status = 400): Answer => ({
  status,
  body: JSON.stringify({ error }),
});

/** A gateway with this answer at `/token`. @returns its origin, and the refresh tokens that it got */
async function serve(answer: (refresh: string) => Answer | Promise<Answer>) {
  const came: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const refresh = new URLSearchParams(text).get('refresh_token') ?? '';
    came.push(refresh);
    const { status = 200, body = '', headers } = await answer(refresh);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came };
}

const loginOf = (origin: string, name: string, leftMs: number): Login => ({
  client_id: 'client',
  token_endpoint: `${origin}/token`,
  revocation_endpoint: `${origin}/revoke`,
  access_token: `access-${name}`,
  refresh_token: `refresh-${name}`,
  expires_at: Date.now() + leftMs,
});
const keep = (origin: string, name: string, leftMs: number) =>
  writeLogin(folder, origin, loginOf(origin, name, leftMs));
const said = (work: Promise<unknown>) => work.catch((error: Error) => error.message);

describe('the token of a login', () => {
  it('[ACC-5] [CLI-4] is renewed a minute before it expires, and not sooner', async () => {
    const { origin, came } = await serve(() => given('2'));
    await keep(origin, '1', 65_000);
    expect(await storedToken(folder, origin).get()).toBe('access-1');
    await keep(origin, '1', 59_000);
    expect(await storedToken(folder, origin).get()).toBe('access-2');
    expect(came).toEqual(['refresh-1']);
    expect(await readLogin(folder, origin)).toMatchObject({
      access_token: 'access-2',
      refresh_token: 'refresh-2',
    });
    expect(await storedToken(folder, origin).get()).toBe('access-2');
    expect(came).toHaveLength(1);
  });

  it('[ACC-5] [CLI-4] is that of another process if that renewed it meanwhile', async () => {
    const { origin, came } = await serve(async refresh => {
      if (refresh !== 'refresh-1') return given('3');
      await keep(origin, '2', HOUR_MS);
      return refused('invalid_grant');
    });
    await keep(origin, '1', 0);
    expect(await storedToken(folder, origin).get()).toBe('access-2');
    const source = storedToken(folder, origin);
    expect(await source.renew('access-1')).toBe('access-2');
    expect(came).toEqual(['refresh-1']);
    expect(await source.renew('access-2')).toBe('access-3');
    expect(came).toEqual(['refresh-1', 'refresh-2']);
  });

  it('[ACC-5] [CLI-4] is not stored for a login that ended meanwhile', async () => {
    const { origin } = await serve(async () => {
      await keep(origin, 'another', HOUR_MS);
      return given('2');
    });
    await keep(origin, '1', 0);
    expect(await storedToken(folder, origin).get()).toBe('access-2');
    expect(await readLogin(folder, origin)).toMatchObject({ refresh_token: 'refresh-another' });
  });

  it.each<[string, Answer]>([
    ['the grant', refused('invalid_grant')],
    ['the client', refused('invalid_client', 401)],
  ])(
    '[ACC-5] [CLI-4] requires a new login if the gateway no longer knows %s',
    async (_what, answer) => {
      const { origin, came } = await serve(() => answer);
      await keep(origin, '1', 0);
      expect(await said(storedToken(folder, origin).get())).toBe(
        `signed out of ${origin}: run portico login ${origin}`,
      );
      expect(came).toEqual(['refresh-1']);
    },
  );

  it.each<[string, Answer, RegExp]>([
    ['has trouble', refused('temporarily_unavailable', 503), /is temporarily failing; try again/],
    ['is busy', { status: 429 }, /is temporarily failing; try again/],
    [
      'redirects',
      { status: 307, headers: { location: 'https://evil.example.com/' } },
      /not a Portico gateway/,
    ],
    [
      'is no gateway',
      { body: '<html>', headers: { 'content-type': 'text/html' } },
      /not a Portico gateway/,
    ],
    ['says too much', { body: ' '.repeat(1_000_000) }, /not a Portico gateway/],
  ])('[ACC-5] [CLI-4] is kept if the gateway %s', async (_what, answer, message) => {
    const { origin, came } = await serve(() => answer);
    await keep(origin, '1', 0);
    expect(await said(storedToken(folder, origin).get())).toMatch(message);
    expect(came).toHaveLength(1);
    expect(await readLogin(folder, origin)).toMatchObject({ refresh_token: 'refresh-1' });
  });
});

describe('a request', () => {
  it('[ACC-5] [CLI-4] that is refused is repeated once with another token, and not again', async () => {
    const sent: string[] = [];
    const send = (status: number) => (authorization: string) => {
      sent.push(authorization);
      return Promise.resolve(new Response('x', { status }));
    };
    const source = (next: string | undefined): TokenSource => ({
      get: () => Promise.resolve('a'),
      renew: () => Promise.resolve(next),
    });
    expect((await sendWithToken(source('b'), send(401))).status).toBe(401);
    expect((await sendWithToken(source(undefined), send(401))).status).toBe(401);
    expect((await sendWithToken(source('b'), send(403))).status).toBe(403);
    expect(sent).toEqual(['Bearer a', 'Bearer b', 'Bearer a', 'Bearer a']);
  });
});
