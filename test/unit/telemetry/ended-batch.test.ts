/** Ended requests are processed in batches by one request, and a failure there fails nothing else. */
import { expect, it } from 'vitest';
import { createEndedBatch } from '../../../src/telemetry/ended-batch.ts';

function stand(isFailing = false) {
  const looked: string[][] = [];
  const deferred: Promise<unknown>[] = [];
  let now = 0;
  let release = () => {};
  const add = createEndedBatch<string>({
    async process(ended) {
      looked.push([...ended]);
      if (isFailing) throw new Error('no host');
    },
    charsOf: ended => ended.length,
    wait: () => new Promise<void>(resolve => (release = resolve)),
    now: () => now,
  });
  return {
    looked,
    deferred,
    add: (ended: string) => add(ended, work => void deferred.push(work)),
    pass: (ms: number) => void (now += ms),
    async end() {
      release();
      await deferred.at(-1);
    },
  };
}

it('[OPS-7] requests that end together are processed in one batch, by one request', async () => {
  const { add, end, looked, deferred } = stand();
  add('a');
  add('b');
  expect([looked, deferred.length]).toEqual([[], 1]);
  await end();
  add('c');
  await end();
  expect(looked).toEqual([['a', 'b'], ['c']]);
});

it('[OPS-7] if the processing request was cut off, another one takes over', async () => {
  const { add, end, pass, looked } = stand();
  add('a');
  pass(6_000);
  add('b');
  await end();
  expect(looked).toEqual([['a', 'b']]);
});

it('[OPS-7] a failure there fails nothing else, and a bounded number waits', async () => {
  const { add, end, looked } = stand(true);
  for (let n = 0; n < 1_500; n += 1) add(String(n));
  expect(looked.map(({ length }) => length)).toEqual([1_000]);
  add('x'.repeat(4_194_304));
  expect(looked.map(({ length }) => length)).toEqual([1_000, 501]);
  await expect(end()).resolves.toBeUndefined();
});
