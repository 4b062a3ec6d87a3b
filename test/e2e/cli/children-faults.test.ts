/** Faults of a stdio server, and what its clients and its machine see of them. */
import { afterAll, describe, expect, it } from 'vitest';
import type { ServerState } from '../../../cli/src/connect/kept-child.ts';
import { until } from '../../fixtures/start-fixture.ts';
import { openLegacy, openModern, post, requestBody, textOf } from '../support/raw-client.ts';
import { closeStands, isGone, node, openStand, pidOf } from '../support/stdio-stand.ts';
import { openWireSession } from '../support/wire-session.ts';

afterAll(closeStands);

const odd = (...options: string[]) => node('test/fixtures/odd-stdio.ts', ...options);
const SECRET = 'hunter2-hunter2';

describe('[CLI-1] a child that ends', () => {
  it('in mid-call: every call under way gets an error, sessions are dropped, the next child serves', async () => {
    const stand = await openStand(odd());
    const session = await openWireSession(stand.url);
    const other = await openLegacy(stand);
    const before = pidOf(stand);
    const logged = await session.call('log', { data: 'x' });
    await logged.over;
    const waiting = session.call('hang');
    const crashed = await other.call('crash');
    expect(crashed.status).toBe(502);
    expect(crashed.message).toMatchObject({
      id: 1,
      error: { code: -32603, message: 'The server exited with code 7 before it answered' },
    });
    const told = await waiting;
    await told.over;
    expect([404, 502]).toContain(told.status);
    expect((await other.call('pid')).status).toBe(404);
    const after = Number(textOf(await (await openLegacy(stand)).call('pid')));
    expect(after).not.toBe(before);
    await stand.close();
  });

  it('after its last words: they are delivered', async () => {
    const stand = await openStand(odd());
    const client = await openLegacy(stand);
    expect(textOf(await client.call('say-then-exit'))).toBe('last words');
    await stand.close();
  });

  it('in a stream: the stream ends with an error', async () => {
    const stand = await openStand(odd());
    const session = await openWireSession(stand.url, { sampling: {} });
    const asking = await session.call('ask', { method: 'sampling/createMessage' });
    await asking.heard('the question', ({ method }) => method === 'sampling/createMessage');
    process.kill(pidOf(stand), 'SIGKILL');
    await asking.over;
    expect(asking.messages().at(-1)).toMatchObject({
      id: 1,
      error: { message: 'The server was killed by SIGKILL before it answered' },
    });
    await stand.close();
  });

  it('at once, again and again: is retried less and less often, and its reason is reported without its secrets', async () => {
    const limits = { backoffMs: 20, maxBackoffMs: 50 };
    const stand = await openStand({ ...odd('--broken'), env: { SECRET } }, { limits });
    await stand.reached('three failures', ({ failures }) => failures >= 3);
    const answer = await until('a refusal', 20_000, async () => {
      const given = await post(stand, requestBody('legacy', 'initialize', '{}', 'me'));
      return given.status === 503 ? given : undefined;
    });
    expect(answer.message).toMatchObject({
      id: 'me',
      error: {
        message: 'The server exited with code 3; it said: cannot read the key ***',
      },
    });
    expect(stand.states.map(({ state }) => state)).not.toContain('ready');
    await stand.close();
    expect(stand.server.child.state.state).toBe('stopped');
    expect((await stand.server.child.adapter(AbortSignal.timeout(1))) ?? 'none').toBe('none');
  });

  it('at once, and prints the password of a URL in another form: its reason is reported without the password', async () => {
    const program = `const { password } = new URL(process.env.DATABASE_URL);
      console.error('Error: wrong password ' + password + ' or ' + process.argv[1]); process.exit(3)`;
    const env = { DATABASE_URL: 'postgres://user:hunter2-of-env@db/app' };
    const args = ['-e', program, 'redis://:hunter2-of-args@cache'];
    const stand = await openStand({ command: process.execPath, args, env });
    await stand.reached('the failure', ({ state }) => state === 'failed');
    expect(stand.server.child.trouble).toBe(
      'The server exited with code 3; it said: Error: wrong password *** or redis://[redacted]@cache',
    );
    await stand.close();
  });

  it('because there is no such program: the error says so', async () => {
    const stand = await openStand({ command: 'portico-no-such-program' });
    const { reason } = await stand.reached('the failure', ({ state }) => state === 'failed');
    expect(reason).toContain('ENOENT');
    const answer = await post(stand, requestBody('legacy', 'initialize', '{}', 1));
    expect(answer.status).toBe(503);
    await stand.close();
  });

  it('because of the probe: is restarted at once without it, and from then on', async () => {
    const stand = await openStand(odd('--frail'));
    const client = await openLegacy(stand);
    expect(textOf(await client.call('pid'))).toBe(String(pidOf(stand)));
    expect(stand.states.map(({ state }) => state)).toEqual(['starting', 'ready']);
    await client.call('crash');
    const again = await openLegacy(stand);
    expect(textOf(await again.call('pid'))).toBe(String(pidOf(stand)));
    expect(stand.states.map(({ state }) => state)).not.toContain('failed');
    await stand.close();
  });
});

describe('[CLI-1] a child that is slow or old', () => {
  it('and never answers the probe is treated as a legacy one', async () => {
    const stand = await openStand(odd('--mute'), { limits: { probeMs: 200 } });
    const client = await openLegacy(stand);
    expect(textOf(await client.call('pid'))).toBe(String(pidOf(stand)));
    await stand.close();
  });

  it('at its first start, and of both eras, is restarted as a modern one, and stays modern', async () => {
    const limits = { probeMs: 0 };
    const stand = await openStand(node('test/fixtures/conformance-stdio.ts'), { limits });
    const isModern = ({ state, era }: ServerState) => state === 'ready' && era === 'modern';
    const { pid } = await stand.reached('the modern run', isModern);
    const ready = stand.states.filter(({ state }) => state === 'ready');
    expect(ready.map(({ era }) => era)).toEqual(['legacy', 'modern']);
    expect(textOf(await openModern(stand).call('hung'))).toBe('0');
    process.kill(pid ?? 0, 'SIGKILL');
    await stand.reached('the next run', state => isModern(state) && state.pid !== pid);
    expect(textOf(await openModern(stand).call('hung'))).toBe('0');
    await stand.close();
  });

  it('after a first start in time is waited for, and stays a modern one', async () => {
    const stand = await openStand(node('test/fixtures/conformance-stdio.ts'));
    expect(textOf(await openModern(stand).call('hung'))).toBe('0');
    const before = pidOf(stand);
    process.kill(before, 'SIGKILL');
    await stand.reached('the next run', ({ state, pid }) => state === 'ready' && pid !== before);
    expect(stand.server.child.state.era).toBe('modern');
    await stand.close();
  });

  it('and answers numeric request ids as text is understood', async () => {
    const stand = await openStand(odd('--text-ids'));
    const client = await openLegacy(stand);
    const answer = await client.call('pid');
    expect([textOf(answer), answer.message.id]).toEqual([String(pidOf(stand)), 1]);
    await stand.close();
  });

  it('and is not ready in time is not waited for any longer', async () => {
    const limits = { probeMs: 60_000, waitMs: 50 };
    const stand = await openStand(odd('--mute'), { limits });
    const answer = await post(stand, requestBody('legacy', 'initialize', '{}', 1));
    expect(answer.status).toBe(503);
    expect(answer.message.error?.message).toBe('The server is still starting');
    await stand.close();
  });

  it('and failed before reports the earlier reason while it restarts', async () => {
    const program = `console.error('Error: no key'); setInterval(() => {}, 1000)`;
    const limits = { probeMs: 10, handshakeMs: 300, waitMs: 50 };
    const stand = await openStand({ command: process.execPath, args: ['-e', program] }, { limits });
    await stand.reached(
      'the next run',
      ({ state, failures }) => state === 'starting' && failures > 0,
    );
    const answer = await post(stand, requestBody('legacy', 'initialize', '{}', 1));
    expect(answer.message.error?.message).toBe(
      'The server did not answer the handshake in time; it said: Error: no key',
    );
    await stand.close();
  });

  it.each(['2025-06-18', '2025-03-26', '2024-11-05'])(
    'and knows %s only is spoken to in that revision',
    async version => {
      const stand = await openStand(odd('--version', version));
      const body = JSON.stringify({ protocolVersion: '2025-11-25', capabilities: {} });
      const answer = await post(stand, requestBody('legacy', 'initialize', body, 1));
      expect(answer.message.result).toMatchObject({ protocolVersion: version });
      await stand.close();
    },
  );

  it('and knows only unknown versions fails with that reason', async () => {
    const stand = await openStand(odd('--version', '1999-01-01'));
    const { reason } = await stand.reached('the failure', ({ state }) => state === 'failed');
    expect(reason).toContain('refused the handshake: Unknown version');
    await stand.close();
  });

  it('and does not read its input gets no more than the limit', async () => {
    const stand = await openStand(odd(), { limits: { inputBytes: 300_000 } });
    const session = await openWireSession(stand.url);
    await session.call('deaf');
    const filler = 'x'.repeat(200_000);
    const calls = Array.from({ length: 10 }, () => session.call('echo', { filler }));
    const refused = await Promise.any(
      calls.map(async call => {
        const answer = await call;
        return answer.status === 503 ? answer : Promise.reject(new Error(answer.text()));
      }),
    );
    await refused.over;
    expect(refused.text()).toContain('The server does not accept requests now');
    await stand.close();
    await Promise.allSettled(calls);
  });
});

describe('[CLI-1] output of a child that is no message', () => {
  it('is ignored in small amounts', async () => {
    const stand = await openStand(odd());
    const client = await openLegacy(stand);
    expect(textOf(await client.call('garbage'))).toBe('after the garbage');
    expect(stand.server.child.garbageLines).toBe(101);
    await stand.close();
  });

  it.each([
    ['flood', {}, 'wrote too much output that is not a protocol message'],
    ['long-line', { lineBytes: 1_000_000 }, 'wrote a line longer than 1000000 bytes'],
  ])('ends the child in large amounts: %s', async (name, limits, reason) => {
    const stand = await openStand(odd(), { limits });
    const client = await openLegacy(stand);
    const before = pidOf(stand);
    const answer = await client.call(name);
    expect(answer.status).toBe(502);
    expect(answer.message.error?.message).toBe(`The server ${reason} before it answered`);
    expect(stand.states.some(state => state.reason === reason)).toBe(true);
    expect((await openLegacy(stand)).sessionId).toBeDefined();
    expect(await isGone(before)).toBe(true);
    await stand.close();
  });
});
