/** The programs of a run: their states, for a caller that waits until they are ready, and that none outlives the run. */
import { expect, it } from 'vitest';
import { startRun } from '../../../cli/src/connect/run.ts';
import type { ServerState } from '../../../cli/src/connect/server-adapter.ts';
import { QUIET } from '../../../cli/src/connect/view.ts';

const SLACK = {
  key: 'slack',
  name: 'slack',
  command: 'slack',
  args: [],
  env: {},
  secrets: [],
  hidden: [],
  description: '',
  tools: {},
};

it('[CLI-3] [UP-5] a program that failed stays failed while it is restarted, until it is ready', async () => {
  let change: (state: ServerState) => void = () => {};
  const run = startRun({
    // No gateway listens there; the states are reported without one too.
    origin: 'http://127.0.0.1:9',
    token: 'none',
    servers: [SLACK],
    createAdapter: (_config, onChange) => {
      change = onChange;
      return {
        handle: () => Promise.reject(new Error('not asked')),
        stop: async () => {},
        kill: () => {},
      };
    },
    view: QUIET,
    isVerbose: false,
    keepaliveMs: 20_000,
    drainMs: 0,
  });
  const seen = (['starting', 'failed', 'starting', 'ready', 'starting'] as const).map(state => {
    change(state);
    return run.stateOf('slack');
  });
  expect(seen).toEqual(['starting', 'failed', 'failed', 'ready', 'starting']);
  run.stop();
  await run.done;
});

it('[CLI-1] an edit whose programs end after the run starts no new ones', async () => {
  let created = 0;
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const run = startRun({
    origin: 'http://127.0.0.1:9',
    token: 'none',
    servers: [SLACK],
    createAdapter: () => {
      created += 1;
      return {
        handle: () => Promise.reject(new Error('not asked')),
        stop: () => stopped,
        kill: () => {},
      };
    },
    view: QUIET,
    isVerbose: false,
    keepaliveMs: 20_000,
    drainMs: 0,
  });
  const updated = run.update([{ ...SLACK, args: ['--new'] }]);
  run.stop();
  await run.done;
  resolve();
  expect([await updated, created]).toEqual(['nothing', 1]);
});
