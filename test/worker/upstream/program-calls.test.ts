/** Calls to programs behind a connector: both eras, streams, disconnects, a broken connection, an object that sleeps meanwhile. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { toJsonFrame, WINDOW_BYTES } from '../../../src/upstream/connector/frames.ts';
import { call, connectedProgram, textOf } from '../support/connected-program.ts';
import { FakeMachine } from '../support/fake-machine.ts';
import { resultOf, streamOf } from '../support/fake-server.ts';
import {
  PATIENT,
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  whenServer,
} from '../support/portico.ts';

const portico = createPortico();

describe.each(['legacy', 'modern'] as const)('a %s program', era => {
  it('[CLI-1] [MCP-5] [UP-1] is listed and called by clients of both eras', async () => {
    const name = `both-${era}`;
    const { server } = await connectedProgram(portico, name, { era });
    expect(await textOf(await call(portico, `${name}.echo`, { n: 1 }))).toBe('{"n":1}');
    const headers = inSession(await initialize(portico));
    const message = legacy('tools/call', { name: `${name}.echo`, arguments: { n: 2 } });
    expect(await textOf(await portico.post(message, { headers }))).toBe('{"n":2}');
    expect(server.of('tools/call')).toHaveLength(2);
  });

  it('[CLI-1] [MCP-5] streams notifications before the answer, and 3 MB of it over a small window', async () => {
    const name = `streams-${era}`;
    const { server, machine } = await connectedProgram(portico, name, { era });
    const big = 'x'.repeat(3 * WINDOW_BYTES);
    server.call = post =>
      streamOf(
        {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: {
            progressToken: (post.params['_meta'] as { progressToken?: unknown })?.progressToken,
            progress: 1,
          },
        },
        {
          jsonrpc: '2.0',
          id: post.id,
          result: { resultType: 'complete', content: [{ type: 'text', text: big }] },
        },
      );
    const { message, headers } = modern('tools/call', {
      name: `${name}.echo`,
      _meta: { progressToken: 'p' },
    });
    const text = await (await portico.post(message, { headers })).text();
    expect(text).toContain('notifications/progress');
    expect(text.includes(big)).toBe(true);
    expect(machine.of('credit').length).toBeGreaterThan(1);
  });

  it('[CLI-1] [MCP-6] is disconnected when its client disconnects', async () => {
    const name = `hangs-${era}`;
    const { server, machine } = await connectedProgram(portico, name, { era });
    server.call = () => new Promise(() => {});
    const controller = new AbortController();
    const calling = call(portico, `${name}.echo`, {}, { signal: controller.signal }).catch(
      () => undefined,
    );
    await vi.waitFor(() => expect(server.of('tools/call')).toHaveLength(1), PATIENT);
    controller.abort();
    await calling;
    await vi.waitFor(() => expect(machine.of('reset').length).toBeGreaterThan(0), PATIENT);
  });

  it('[CLI-1] [UP-5] ends its calls when the connection breaks, sends none twice, and returns with the machine', async () => {
    const name = `breaks-${era}`;
    const { server, machine, token, id } = await connectedProgram(portico, name, { era });
    const usual = server.call;
    server.call = () => new Promise(() => {});
    const calling = call(portico, `${name}.echo`);
    await vi.waitFor(() => expect(server.of('tools/call')).toHaveLength(1), PATIENT);
    machine.cut();
    expect(await textOf(await calling)).toContain('connector broke');
    expect(server.of('tools/call')).toHaveLength(1);
    expect(await textOf(await call(portico, `${name}.echo`))).toContain('not connected');
    server.call = usual;
    const next = new FakeMachine({ [name]: server.handle });
    await next.dial(portico, token);
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    expect(await textOf(await call(portico, `${name}.echo`, { back: true }))).toBe('{"back":true}');
  });

  it('[CLI-1] sleeps while a call runs, and wakes for its answer', async () => {
    const name = `sleeps-${era}`;
    const { server, connectorId } = await connectedProgram(portico, name, { era });
    const late = Promise.withResolvers<void>();
    server.call = async post => {
      await late.promise;
      return resultOf(post, { content: [{ type: 'text', text: 'at last' }] });
    };
    const calling = call(portico, `${name}.echo`);
    await vi.waitFor(() => expect(server.of('tools/call')).toHaveLength(1), PATIENT);
    await evictDurableObject(env.CONNECTOR.getByName(connectorId));
    late.resolve();
    expect(await textOf(await calling)).toBe('at last');
  });
});

it.each([
  [
    'in one bounded line',
    `it is\u202e\n\u0000broken ${'x'.repeat(3_000)}`,
    /^[^\n]*Its connector says: it is broken x{400,}…[^\n]*$/,
  ],
  ['and something where it says nothing', ' ', /Its connector ended the call/],
])(
  "[CLI-1] [SEC-8] a machine's reason to end a call is shown as its words, %s",
  async (what, message, shown) => {
    const name = `says-${what.length}`;
    const { server, machine } = await connectedProgram(portico, name, { era: 'legacy' });
    server.call = () => new Promise(() => {});
    const calling = call(portico, `${name}.echo`);
    await vi.waitFor(() => expect(server.of('tools/call')).toHaveLength(1), PATIENT);
    const { channel } = machine.of('open').at(-1) ?? { channel: 0 };
    machine.send(toJsonFrame('reset', channel, { code: 'failed', message }));
    const text = await textOf(await calling);
    expect(text).toMatch(shown);
    expect(text?.length).toBeLessThan(700);
  },
);

/** An object falls asleep after ten seconds without a request. */
const LONG_MS = 15_000;

it('[CLI-1] the object hibernates in a call of 15 seconds, and the answer arrives', async () => {
  const { server, connectorId } = await connectedProgram(portico, 'long', { era: 'modern' });
  const object = env.CONNECTOR.getByName(connectorId);
  const known = new WeakSet<object>();
  await runInDurableObject(object, instance => void known.add(instance));
  server.call = async post => {
    await scheduler.wait(LONG_MS);
    return resultOf(post, { content: [{ type: 'text', text: 'after long' }] });
  };
  // Meanwhile comments keep the silent stream alive.
  expect(await (await call(portico, 'long.echo')).text()).toContain('after long');
  // It slept and lost its memory: another instance answers now.
  expect(await runInDurableObject(object, instance => known.has(instance))).toBe(false);
});
