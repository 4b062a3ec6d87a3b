/** The look that anybody may ask for: what it costs is bounded, whoever asks and however it goes. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Probe } from '../../../src/shared/util/probe.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

it('[OPS-5] looks once a second, however often it is asked', async () => {
  let looks = 0;
  const probe = new Probe(async () => (looks += 1), -1);
  const found: number[] = [];
  for (let asked = 0; asked < 100; asked++) found.push(await probe.ask());
  expect(new Set(found)).toEqual(new Set([1]));
  vi.advanceTimersByTime(1_000);
  expect([await probe.ask(), await probe.ask()]).toEqual([2, 2]);
});

it('[OPS-5] a thousand at once begin four looks, and one later on', async () => {
  let release = Promise.withResolvers<string>();
  const look = vi.fn<() => Promise<string>>(() => release.promise);
  const probe = new Probe(look, 'failed');
  const first = Array.from({ length: 1_000 }, () => probe.ask());
  expect(look).toHaveBeenCalledTimes(4);
  release.resolve('well');
  const answers = await Promise.all(first);
  expect(answers.filter(answer => answer === 'well')).toHaveLength(4);
  expect(answers.filter(answer => answer === 'failed')).toHaveLength(996);

  release = Promise.withResolvers<string>();
  vi.advanceTimersByTime(1_000);
  const later = Array.from({ length: 1_000 }, () => probe.ask());
  expect(look).toHaveBeenCalledTimes(5);
  release.resolve('better');
  expect((await Promise.all(later)).toSpliced(0, 1)).toEqual(Array(999).fill('well'));
  expect(await probe.ask()).toBe('better');
});

it('[OPS-5] gives up a look that hangs, and looks again', async () => {
  const look = vi.fn<() => Promise<string>>(() => new Promise(() => {}));
  const probe = new Probe(look, 'failed');
  const asked = probe.ask();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await asked).toBe('failed');
  look.mockResolvedValue('well');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await probe.ask()).toBe('well');
});

it('[OPS-5] a look whose request was cancelled holds up nobody for long', async () => {
  const look = vi.fn<() => Promise<string>>(() => new Promise(() => {}));
  const probe = new Probe(look, 'failed');
  void probe.ask();
  // Neither the look nor its timer is heard of again.
  vi.clearAllTimers();
  vi.advanceTimersByTime(3_000);
  look.mockResolvedValue('well');
  expect(await probe.ask()).toBe('well');
});

it('[OPS-5] a look that fails has found what failing means', async () => {
  const probe = new Probe(() => Promise.reject(new Error('no such table')), 'failed');
  expect(await probe.ask()).toBe('failed');
});
