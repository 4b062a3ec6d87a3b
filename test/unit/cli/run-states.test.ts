/** How the programs of a run are, for whoever waits until they are there. */
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

it('[CLI-3] [UP-5] one that failed has failed while it is tried again, until it is ready', async () => {
  let change: (state: ServerState) => void = () => {};
  const run = startRun({
    // Nobody is there; what the programs do is told without a gateway too.
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
