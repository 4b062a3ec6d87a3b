/** What a login does: any number of processes renew its tokens, until the person signs out or the grant is ended. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLoginMachine, logIn, type LoginMachine } from '../support/logging-in.ts';
import { startStdio } from '../support/portico-command.ts';
import { openModern } from '../support/raw-client.ts';
import { endAccessToken, startSignInGateway, type SignInGateway } from '../support/signing-in.ts';

const ENDED_WITHIN_MS = 1_000;
let stand: SignInGateway;
let origin: string;
let machine: LoginMachine;

beforeAll(async () => {
  stand = await startSignInGateway();
  ({ origin } = stand.gateway);
});
afterAll(() => stand?.stop());
beforeEach(async () => {
  machine = await createLoginMachine();
  await logIn(machine, origin, stand.person);
});
afterEach(() => machine.remove());

const echo = async () => machine.run('call', 'rich.echo', '--message', 'still');
const ECHO = { code: 0, out: expect.stringContaining('Echo: still') as string, err: '' };
const statusOf = async (token: string) =>
  (await openModern({ url: `${origin}/mcp`, token }).request('tools/list')).status;
const SIGNED_OUT = () => ({
  code: 3,
  out: '',
  err: `portico: signed out of ${origin}: run portico login ${origin}\n`,
});

describe('an access token', () => {
  it('[ACC-5] [CLI-4] that has expired is renewed, and the new one is stored', async () => {
    const before = await machine.expire();
    expect(await echo()).toMatchObject(ECHO);
    const after = await machine.kept();
    expect(after.client_id).toBe(before.client_id);
    expect(after.access_token).not.toBe(before.access_token);
    expect(after.refresh_token).not.toBe(before.refresh_token);
    expect(after.expires_at).toBeGreaterThan(Date.now() + 3_500_000);
    expect(await echo()).toMatchObject(ECHO);
    expect(await machine.kept()).toEqual(after);
  });

  it('[ACC-5] [CLI-4] is renewed by several processes at once, and none of them is signed out', async () => {
    await machine.expire();
    const runs = await Promise.all([echo(), echo(), machine.run('search', 'echo'), echo()]);
    expect(runs.map(({ code, err }) => [code, err])).toEqual(runs.map(() => [0, '']));
    await machine.expire();
    expect(await echo()).toMatchObject(ECHO);
    expect(await stand.grantsOf((await machine.kept()).client_id)).toHaveLength(1);
  });

  it('[ACC-5] [CLI-4] that the gateway refuses early is renewed, also by a running command', async () => {
    const { client_id: id, access_token: first } = await machine.kept();
    await endAccessToken(stand.gateway, id, first);
    expect(await echo()).toMatchObject(ECHO);
    const host = startStdio(`${origin}/mcp`, '', [], machine.env);
    const list = (request: number) => {
      host.send({ jsonrpc: '2.0', id: request, method: 'tools/list', params: {} });
      return host.answer(request);
    };
    host.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'host', version: '1' },
      },
    });
    await host.answer(1);
    host.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect((await list(2)).error).toBeUndefined();
    const { access_token: second } = await machine.kept();
    await endAccessToken(stand.gateway, id, second);
    expect((await list(3)).error).toBeUndefined();
    expect((await machine.kept()).access_token).not.toBe(second);
    expect(await host.end()).toBe(0);
  });
});

describe('the end of a login', () => {
  it('[ACC-5] [ACC-1] by signing out ends the token within a second, at the gateway and locally', async () => {
    const { access_token: token, client_id: id } = await machine.kept();
    expect(await statusOf(token)).toBe(200);
    const out = await machine.run('logout');
    const endedAt = performance.now();
    expect(out).toMatchObject({ code: 0, out: '', err: `signed out of ${origin}\n` });
    expect(await statusOf(token)).toBe(401);
    expect(performance.now() - endedAt).toBeLessThan(ENDED_WITHIN_MS);
    expect(await stand.grantsOf(id)).toEqual([]);
    await expect(machine.kept()).rejects.toThrow(/EISDIR|ENOENT/);
    const after = await machine.run('tools', '--url', origin);
    expect([after.code, after.err]).toEqual([
      2,
      expect.stringContaining(`portico login ${origin}`),
    ]);
    expect((await machine.run('logout', origin)).err).toBe(`not signed in to ${origin}\n`);
  });

  it.each([
    ['now', async () => {}],
    ['when the token has ended', () => machine.expire()],
  ])('[ACC-5] [CLI-4] by an administrator is reported in one line, %s', async (_when, wait) => {
    const [grant = ''] = await stand.grantsOf((await machine.kept()).client_id);
    expect((await stand.gateway.api('DELETE', `/api/v1/grants/${grant}`)).status).toBe(204);
    await wait();
    expect(await echo()).toMatchObject(SIGNED_OUT());
    expect(await machine.run('servers')).toMatchObject(SIGNED_OUT());
    const doctor = await machine.run('doctor', '--json');
    expect(doctor.out).toContain(`signed out of ${origin}`);
    expect((await machine.run('logout')).code).toBe(0);
    await logIn(machine, origin, stand.person);
    expect(await echo()).toMatchObject(ECHO);
  });

  it('[CLI-4] fails if the gateway cannot be reached, unless --local is given', async () => {
    const other = await createLoginMachine();
    try {
      const gone = 'http://127.0.0.1:9';
      await logIn(other, origin, stand.person);
      const before = await other.kept();
      await other.rename(gone);
      const out = await other.run('logout', gone);
      expect([out.code, out.err]).toEqual([1, expect.stringContaining('still signed in; --local')]);
      expect(await other.kept()).toMatchObject({ refresh_token: before.refresh_token });
      const forgotten = await other.run('logout', gone, '--local');
      expect([forgotten.code, forgotten.err]).toEqual([0, `signed out of ${gone}\n`]);
    } finally {
      await other.remove();
    }
  });
});

it('[CLI-4] [SEC-1] sends a login to no other gateway, and writes it into no file of a client', async () => {
  const elsewhere = await machine.run('tools', '--url', stand.upstream.origin);
  expect([elsewhere.code, elsewhere.err]).toEqual([
    2,
    expect.stringContaining('a token is needed'),
  ]);
  const added = await machine.run('client', 'add', 'cursor', '--url', `${origin}/mcp`);
  expect([added.code, added.err]).toEqual([
    2,
    expect.stringContaining('a login cannot be given to a client'),
  ]);
});
