/** A program that is kept running, stopped before it had its turn to start. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { KeptChild, type RunAdapter } from '../../../cli/src/connect/kept-child.ts';
import { LIMITS } from '../../../cli/src/connect/limits.ts';
import { StartQueue } from '../../../cli/src/connect/start-queue.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-kept-child-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('[CLI-1] [CLI-3] is never started', async () => {
  const file = join(folder, 'started');
  const starts = new StartQueue({ processors: 1, areIdle: () => false });
  const end = await starts.begin(new AbortController().signal);
  const kept = new KeptChild<RunAdapter>({
    spec: {
      command: process.execPath,
      args: [
        '-e',
        `require('node:fs').writeFileSync(${JSON.stringify(file)}, ''); setTimeout(() => {}, 60_000)`,
      ],
    },
    limits: { ...LIMITS, closeMs: 5_000 },
    features: [],
    starts,
    open: () => ({ take: () => {}, close: () => {}, isBusy: false }),
  });
  await kept.stop();
  expect([kept.state.state, existsSync(file)]).toEqual(['stopped', false]);
  end();
  // The turn that it did not use is free at once; one that is used ends after seconds.
  const turn = starts.begin(new AbortController().signal).then(() => 'free');
  expect(await Promise.race([turn, setImmediate('taken')])).toBe('free');
});
