/** A machine that announces its server over and over. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { FRAMES_VERSION, toJsonFrame } from '../../../src/upstream/connector/frames.ts';
import { connectedProgram } from '../support/connected-program.ts';
import { createPortico, PATIENT, whenQuiet } from '../support/portico.ts';

afterEach(() => vi.restoreAllMocks());

it('[CLI-1] [SEC-9] is listened to once a second, and its last word counts', async () => {
  const { machine, server, id } = await connectedProgram(createPortico(), 'noisy');
  await whenQuiet(id);
  const prepare = vi.spyOn(env.DB, 'prepare');
  const reads = () =>
    prepare.mock.calls.filter(([sql]) => sql.includes('connector_server AS server')).length;
  const lists = server.of('tools/list').length;
  const welcomes = machine.of('welcome').length;
  const startedAt = Date.now();
  for (let n = 0; n < 300; n += 1) machine.send(toJsonFrame('news', 0, { server: 'noisy' }));
  machine.send(toJsonFrame('hello', 0, { version: FRAMES_VERSION, agent: 'fake/1', servers: [] }));
  await vi.waitFor(() => expect(machine.of('welcome').length).toBeGreaterThan(welcomes), PATIENT);
  expect(reads()).toBeLessThanOrEqual(2 + Math.ceil((Date.now() - startedAt) / 1_000));
  await vi.waitFor(() => expect(reads()).toBeGreaterThanOrEqual(2), PATIENT);
  await vi.waitFor(() => expect(server.of('tools/list').length).toBeGreaterThan(lists), PATIENT);
  // The last look at them is over: a shorter pause would make the next check weaker, never fail.
  await new Promise(resolve => setTimeout(resolve, 1_500));
  const before = reads();
  machine.send(toJsonFrame('news', 0, { server: 'noisy' }));
  await vi.waitFor(() => expect(reads()).toBeGreaterThan(before), PATIENT);
});
