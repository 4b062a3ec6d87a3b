/** The health probe that anybody may call: its cost is bounded, whatever the callers do and however it ends. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Probe } from '../../../src/shared/util/probe.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

it('[OPS-5] probes once a second, however often it is called', async () => {
  let looks = 0;
  const probe = new Probe(async () => (looks += 1), -1);
  const found: number[] = [];
  for (let asked = 0; asked < 100; asked++) found.push(await probe.result());
  expect(new Set(found)).toEqual(new Set([1]));
  vi.advanceTimersByTime(1_000);
  expect([await probe.result(), await probe.result()]).toEqual([2, 2]);
});

it('[OPS-5] a thousand calls at once start four probes, and one more later', async () => {
  let release = Promise.withResolvers<string>();
  const look = vi.fn<() => Promise<string>>(() => release.promise);
  const probe = new Probe(look, 'failed');
  const first = Array.from({ length: 1_000 }, () => probe.result());
  expect(look).toHaveBeenCalledTimes(4);
  release.resolve('well');
  const answers = await Promise.all(first);
  expect(answers.filter(answer => answer === 'well')).toHaveLength(4);
  expect(answers.filter(answer => answer === 'failed')).toHaveLength(996);

  release = Promise.withResolvers<string>();
  vi.advanceTimersByTime(1_000);
  const later = Array.from({ length: 1_000 }, () => probe.result());
  expect(look).toHaveBeenCalledTimes(5);
  release.resolve('better');
  expect((await Promise.all(later)).toSpliced(0, 1)).toEqual(Array(999).fill('well'));
  expect(await probe.result()).toBe('better');
});

it('[OPS-5] gives up a hanging probe, and probes again', async () => {
  const look = vi.fn<() => Promise<string>>(() => new Promise(() => {}));
  const probe = new Probe(look, 'failed');
  const asked = probe.result();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await asked).toBe('failed');
  look.mockResolvedValue('well');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await probe.result()).toBe('well');
});

it('[OPS-5] a probe whose request was cancelled delays nobody for long', async () => {
  const look = vi.fn<() => Promise<string>>(() => new Promise(() => {}));
  const probe = new Probe(look, 'failed');
  void probe.result();
  // Neither the probe nor its timer ever finishes.
  vi.clearAllTimers();
  vi.advanceTimersByTime(3_000);
  look.mockResolvedValue('well');
  expect(await probe.result()).toBe('well');
});

it('[OPS-5] reuses no result for long if the clock was set back', async () => {
  let looks = 0;
  const probe = new Probe(async () => (looks += 1), -1);
  await probe.result();
  vi.setSystemTime(1_000_000 - 3_600_000);
  expect([await probe.result(), await probe.result()]).toEqual([2, 2]);
});

it('[OPS-5] a probe that throws gives the failure value', async () => {
  const probe = new Probe(() => Promise.reject(new Error('no such table')), 'failed');
  expect(await probe.result()).toBe('failed');
});
