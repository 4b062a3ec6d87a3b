/** Polling until somebody allows a code: which errors are retried, how the interval grows, and what ends it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperationProcessingError, ResponseBodyError } from 'oauth4webapi';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loginByDevice, nextInterval } from '../../../cli/src/login/device-login.ts';
import { Failure } from '../../../cli/src/failure.ts';

const closing: (() => void)[] = [];
let shown = '';
beforeEach(() => {
  shown = '';
  vi.spyOn(process.stderr, 'write').mockImplementation(text => {
    shown += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) close();
});

const TOKENS = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_in: 3600 };
type Answer = [status: number, body: object];
const error = (name: string, status = 400): Answer => [status, { error: name }];

/** A gateway with scripted answers to polls. @returns the server, and the requests it got */
async function serve(answers: readonly Answer[], more: object = {}) {
  const came: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const isPoll = request.url === '/token';
    if (isPoll) came.push(new URLSearchParams(text).get('device_code') ?? '');
    const begun = {
      device_code: 'device',
      user_code: 'BCDF-GHJK',
      verification_uri: `${origin}/device`,
      expires_in: 600,
      interval: 0.01,
      ...more,
    };
    const [status, body] = isPoll ? (answers[came.length - 1] ?? error('none')) : [200, begun];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const as = {
    issuer: origin,
    token_endpoint: `${origin}/token`,
    revocation_endpoint: `${origin}/revoke`,
    device_authorization_endpoint: `${origin}/begin`,
  };
  return { server: { origin, as }, came };
}

const log = (server: Parameters<typeof loginByDevice>[0], signal = new AbortController().signal) =>
  loginByDevice(server, 'client', signal);

describe('a login by a code', () => {
  it('[ACC-5] [CLI-4] polls until it is allowed, also after temporary failures', async () => {
    const pending = error('authorization_pending');
    const { server, came } = await serve([
      pending,
      pending,
      error('temporarily_unavailable', 503),
      pending,
      [200, TOKENS],
    ]);
    expect(await log(server)).toMatchObject({ access_token: 'a', refresh_token: 'r' });
    expect(came).toEqual(Array(5).fill('device'));
    expect(shown).toContain('    B C D F - G H J K\n');
  });

  it.each<[string, RegExp]>([
    ['access_denied', /^access was denied$/],
    ['expired_token', /^the code has expired; run portico login again$/],
    ['invalid_grant', /refused: invalid_grant$/],
  ])('[ACC-5] [CLI-4] ends by %s', async (name, message) => {
    const { server, came } = await serve([error(name), [200, TOKENS]]);
    await expect(log(server)).rejects.toThrow(message);
    expect(came).toHaveLength(1);
  });

  it('[CLI-4] ends when its code expires, and at once by Ctrl-C', async () => {
    const late = await serve([error('authorization_pending')], {
      expires_in: 0.02,
      interval: 0.03,
    });
    await expect(log(late.server)).rejects.toThrow('the code has expired');
    const { server, came } = await serve([], { interval: 600 });
    const ended = new AbortController();
    const login = log(server, ended.signal);
    ended.abort(new Failure('cancelled', 130));
    await expect(login).rejects.toThrow('cancelled');
    expect(came).toEqual([]);
  });

  it('[CLI-4] [SEC-5] shows nothing that would move the terminal', async () => {
    const { server } = await serve([[200, TOKENS]], {
      user_code: 'A\u001B[2J',
      verification_uri: 'http://a.example/\u001B]0;x\u0007',
      verification_uri_complete: 'http://a.example/\u009B2J',
    });
    await log(server);
    for (const control of ['\u001B', '\u0007', '\u009B']) expect(shown).not.toContain(control);
  });
});

describe('the next poll', () => {
  const refused = (name: string) =>
    new ResponseBodyError('refused', { cause: { error: name }, response: new Response() });
  const trouble = (status: number) =>
    new OperationProcessingError('trouble', { cause: new Response(null, { status }) });

  it('[ACC-5] comes five seconds later if the gateway asks to slow down, and after twice the interval on failures', () => {
    expect(nextInterval(refused('authorization_pending'), 5)).toBe(5);
    expect(nextInterval(refused('slow_down'), 5)).toBe(10);
    expect(nextInterval(refused('slow_down'), 10)).toBe(15);
    expect(nextInterval(trouble(503), 5)).toBe(10);
    expect(nextInterval(new TypeError('fetch failed'), 40)).toBe(60);
    for (const end of [refused('access_denied'), trouble(404)]) {
      expect(() => nextInterval(end, 5)).toThrow(end.message);
    }
    expect(() => nextInterval(refused('expired_token'), 5)).toThrow('has expired');
  });
});
