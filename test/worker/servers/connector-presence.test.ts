/** Whether the machine of a connector is connected, as the database notes it while the connection or the database is unsteady. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { FRAMES_VERSION, toJsonFrame } from '../../../src/upstream/connector/frames.ts';
import { connectedProgram } from '../support/connected-program.ts';
import { enrol, FakeMachine } from '../support/fake-machine.ts';
import { createPortico, PATIENT } from '../support/portico.ts';

const portico = createPortico();
const NOTE = 'UPDATE connectors SET is_connected';

afterEach(() => vi.restoreAllMocks());

const statusOf = async (id: string) => {
  const response = await portico.api('GET', `/api/v1/connectors/${id}`);
  return (await response.json<{ status: string }>()).status;
};

/** Replaces how the notes are written. @param write gets the real write @returns the calls of `prepare` for notes */
function onNote(write: (run: () => Promise<unknown>) => Promise<unknown>) {
  const prepare = env.DB.prepare.bind(env.DB);
  const spy = vi.spyOn(env.DB, 'prepare').mockImplementation(sql => {
    if (!sql.startsWith(NOTE)) return prepare(sql);
    const bind = (...values: unknown[]) => ({
      run: () =>
        write(() =>
          prepare(sql)
            .bind(...values)
            .run(),
        ),
    });
    return { bind } as unknown as D1PreparedStatement;
  });
  return () => spy.mock.calls.filter(([sql]) => sql.startsWith(NOTE)).length;
}

it('[CLI-1] is right if the note of its end is written only after it has connected again', async () => {
  const { id, token } = await enrol(portico, 'flapping');
  const machine = new FakeMachine({});
  expect(await machine.dial(portico, token)).toBe(101);
  await vi.waitFor(async () => expect(await statusOf(id)).toBe('CONNECTED'), PATIENT);
  const gate = Promise.withResolvers<void>();
  let written = 0;
  const notes = onNote(async run => {
    // The first note is slow.
    if (notes() === 1) await gate.promise;
    await run();
    written += 1;
  });
  machine.cut();
  await vi.waitFor(() => expect(notes()).toBe(1), PATIENT);
  expect(await new FakeMachine({}).dial(portico, token)).toBe(101);
  // Time in which a note that does not wait for the first one would be written.
  await new Promise(resolve => setTimeout(resolve, 200));
  gate.resolve();
  await vi.waitFor(() => expect(written).toBe(2), PATIENT);
  expect(await statusOf(id)).toBe('CONNECTED');
});

it('[CLI-1] is noted as soon as the database can be written again', async () => {
  const { id, token } = await enrol(portico, 'unnoted');
  let failures = 0;
  onNote(run => {
    failures += 1;
    return failures === 1 ? Promise.reject(new Error('no database')) : run();
  });
  expect(await new FakeMachine({}).dial(portico, token)).toBe(101);
  await vi.waitFor(async () => expect(await statusOf(id)).toBe('CONNECTED'), PATIENT);
  expect(failures).toBe(2);
});

it('[CLI-1] [SEC-9] is noted once, however often the machine greets', async () => {
  const { machine } = await connectedProgram(portico, 'greeting');
  const notes = onNote(run => run());
  const hello = { version: FRAMES_VERSION, agent: 'fake/1', servers: [] };
  for (let n = 0; n < 100; n += 1) machine.send(toJsonFrame('hello', 0, hello));
  await vi.waitFor(() => expect(machine.of('welcome')).toHaveLength(101), PATIENT);
  expect(notes()).toBe(0);
});
