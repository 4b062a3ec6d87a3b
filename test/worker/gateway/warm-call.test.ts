/** What a warm call asks of stores and objects at default settings: nothing that it waits for. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { call, connect, ERAS } from '../support/live-calls.ts';
import { resultOf } from '../support/fake-server.ts';
import { createPortico, PATIENT, type RpcAnswer } from '../support/portico.ts';
import { GATHER, holdGathering } from '../support/held-gathering.ts';
import { createRemote } from '../support/remote.ts';
import { readCalls } from '../../../src/audit/chunks/read-calls.ts';
import { env } from 'cloudflare:workers';

const CALLS = 5;

it.each(ERAS.flatMap(client => ERAS.map(server => [client, server] as const)))(
  '[EDGE-1] [EDGE-2] of a %s client at a %s server is answered though no store or object responds, and is written in one row with others',
  async (client, era) => {
    const remote = createRemote();
    const portico = createPortico({ ...remote.bindings, ...GATHER });
    const settle = holdGathering();
    const { name, server } = await connect(era, false, portico);
    server.call = received => resultOf(received, { resultType: 'complete', content: [] });
    const { message, headers } = call(name, client);
    const make = async () => {
      const answer = await portico.post(message, { headers });
      return (await answer.json<RpcAnswer>()).result;
    };
    await make();
    await settle(portico);

    // Caches do not age.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    await make();
    await settle(portico);
    remote.asked.length = 0;
    remote.setSilent(true);
    for (let n = 0; n < CALLS; n += 1) expect(await make()).toMatchObject({ content: [] });
    const before = remote.asked.length;
    remote.setSilent(false);
    expect(before).toBe(0);

    await settle(portico);
    const told = remote.asked.filter(what => !what.startsWith('SERVER_MONITOR.report'));
    expect(told).toEqual(['DB.batch']);
    const { calls: rows } = await readCalls(env.DB, { subjects: [`${name}.echo`] }, 'oldest', 100);
    // Including those of before.
    expect(rows).toHaveLength(CALLS + 2);
  },
);

it('[EDGE-1] [EDGE-2] with a durable row is sent though no store or object responds, and waits for one write with others', async () => {
  const remote = createRemote();
  const settings = { ...GATHER, PORTICO_AUDIT_CALLS: 'durable' };
  const portico = createPortico({ ...remote.bindings, ...settings });
  const settle = holdGathering();
  const { name, server } = await connect('modern', false, portico);
  server.call = received => resultOf(received, { resultType: 'complete', content: [] });
  const { message, headers } = call(name, 'modern');
  const make = async () => (await portico.post(message, { headers })).json<RpcAnswer>();
  await make();
  await settle(portico);

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  await make();
  await settle(portico);
  const before = server.of('tools/call').length;
  remote.asked.length = 0;
  remote.setSilent(true);
  let answered = 0;
  const silent = make().then(() => (answered += 1));
  await expect.poll(() => server.of('tools/call').length, PATIENT).toBe(before + 1);
  expect(remote.asked).toEqual(['DB.batch']);
  expect(answered).toBe(0);
  remote.setSilent(false);
  // The write without a response is given up after a timeout, and repeated.
  vi.setSystemTime(Date.now() + 6_000);
  const { result } = await make();
  expect(result).toMatchObject({ content: [] });
  await silent;

  await settle(portico);
  const { calls: rows } = await readCalls(env.DB, { subjects: [`${name}.echo`] }, 'oldest', 100);
  expect(rows.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done', 'done']);
});
