/** Lines of the log are handed over together, and a host that fails fails nothing. */
import { expect, it } from 'vitest';
import { createLineBatch } from '../../../src/telemetry/line-batch.ts';

function stand(isFailing = false) {
  const texts: string[] = [];
  const deferred: Promise<unknown>[] = [];
  let now = 0;
  let release = () => {};
  const add = createLineBatch({
    async put(text) {
      texts.push(text);
      if (isFailing) throw new Error('no host');
    },
    wait: () => new Promise<void>(resolve => (release = resolve)),
    now: () => now,
  });
  return {
    texts,
    deferred,
    add: (line: string) => add(line, work => void deferred.push(work)),
    pass: (ms: number) => void (now += ms),
    async end() {
      release();
      await deferred.at(-1);
    },
  };
}

it('[OPS-7] lines of a moment go together, and one request sees to it', async () => {
  const { add, end, texts, deferred } = stand();
  add('a');
  add('b');
  expect([texts, deferred.length]).toEqual([[], 1]);
  await end();
  add('c');
  await end();
  expect(texts).toEqual(['a\nb\n', 'c\n']);
});

it('[OPS-7] where who sees to it was cut off, somebody else does', async () => {
  const { add, end, pass, texts } = stand();
  add('a');
  pass(6_000);
  add('b');
  await end();
  expect(texts).toEqual(['a\nb\n']);
});

it('[OPS-7] a host that fails fails nothing, and no more than a bound waits for it', async () => {
  const { add, end, texts } = stand(true);
  for (let n = 0; n < 10; n += 1) add('x'.repeat(1_000_000));
  await expect(end()).resolves.toBeUndefined();
  expect(texts[0]?.length).toBe(4_000_004);
});
