/** A run of deliveries of which one outcome cannot be recorded. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { deliver } from '../../../src/webhooks/deliver.ts';
import { createPortico, PATIENT, register } from '../support/portico.ts';
import { alarmAt, createReceiver, makeWebhook, setStatus, WEBHOOKS } from '../support/webhooks.ts';

const portico = createPortico();

afterEach(() => vi.restoreAllMocks());

it('[OPS-7] ends only when its other deliveries have ended, so that none is sent twice', async () => {
  const receiver = createReceiver();
  const webhook = await makeWebhook(portico, 'unrecorded', { events: ['server.up'] });
  // The object's own run is over.
  await vi.waitFor(
    async () => expect(await alarmAt()).toBeGreaterThan(Date.now() + 60_000),
    PATIENT,
  );
  for (const name of ['unrecorded-1', 'unrecorded-2']) {
    const { id } = await register(portico, name, { auto_connect: false });
    await setStatus(id, 'CONNECTING');
    await setStatus(id, 'CONNECTED');
  }
  const gate = Promise.withResolvers<void>();
  const prepare = env.DB.prepare.bind(env.DB);
  let outcomes = 0;
  vi.spyOn(env.DB, 'prepare').mockImplementation(sql => {
    if (!sql.startsWith('UPDATE webhook_deliveries SET state')) return prepare(sql);
    outcomes += 1;
    if (outcomes === 1) throw new Error('no database');
    const bind = (...values: unknown[]) => ({
      run: () =>
        gate.promise.then(() =>
          prepare(sql)
            .bind(...values)
            .run(),
        ),
    });
    return { bind } as unknown as D1PreparedStatement;
  });
  const run = () =>
    deliver({ db: env.DB, keys: createKeyRing(env.PORTICO_KEYS), allowsLoopback: false });
  let isOver = false;
  const first = run()
    .catch((thrown: unknown) => thrown)
    .finally(() => (isOver = true));
  await vi.waitFor(() => expect(outcomes).toBe(2), PATIENT);
  // Time in which a run that does not wait would end.
  await new Promise(resolve => setTimeout(resolve, 50));
  expect(isOver).toBe(false);
  gate.resolve();
  expect(await first).toBeInstanceOf(Error);
  await run();
  const times = receiver.got.map(({ id }) => receiver.got.filter(one => one.id === id).length);
  expect(times.toSorted()).toEqual([1, 2, 2]);
  await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`);
});
