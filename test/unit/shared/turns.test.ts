/** A queue with a few running at once: in order, and without those that were lost. */
import { describe, expect, it } from 'vitest';
import { Turns, type Turn } from '../../../src/shared/util/turns.ts';

function line(atOnce: number) {
  let now = 1_000;
  const turns = new Turns(atOnce, 500, () => now);
  const join = (count: number) => Array.from({ length: count }, () => turns.join());
  const up = (all: readonly Turn[]) => all.map(turn => turn.isUp());
  return { turns, join, up, pass: (ms: number) => (now += ms) };
}

describe('[SEC-9] turns', () => {
  it('are given in order, to a few at once', () => {
    const { join, up } = line(2);
    const all = join(4);
    expect(up(all)).toEqual([true, true, false, false]);
    all[0]?.leave();
    all[0]?.leave();
    expect(up(all.slice(1))).toEqual([true, true, false]);
    all[1]?.leave();
    all[2]?.leave();
    expect(up(all.slice(3))).toEqual([true]);
  });

  it('are polled more rarely the longer the wait', () => {
    const { join } = line(1);
    const pauses = join(100).map(({ pauseMs }) => pauseMs);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect([pauses[0], pauses[1], pauses[99]]).toEqual([5, 5, 250]);
  });

  it('that take too long delay nobody', () => {
    const { join, up, pass } = line(1);
    const all = join(2);
    expect(up(all)).toEqual([true, false]);
    pass(501);
    expect(up(all.slice(1))).toEqual([true]);
  });

  it('that take too long delay nobody, though the clock was set back', () => {
    const { join, up, pass } = line(1);
    const all = join(2);
    expect(up(all)).toEqual([true, false]);
    pass(-3_600_000);
    expect(up(all.slice(1))).toEqual([true]);
  });

  it('of callers that vanished are skipped', () => {
    const { turns, join, up, pass } = line(1);
    const [first, lost, last] = join(3) as [Turn, Turn, Turn];
    expect(up([first, lost, last])).toEqual([true, false, false]);
    pass(1_500);
    last.isUp();
    pass(1_500);
    expect(up([last])).toEqual([true]);
    expect(turns.size).toBe(1);
    // It had not vanished: it comes last.
    expect(up([lost])).toEqual([false]);
    last.leave();
    expect(up([lost])).toEqual([true]);
    lost.leave();
    expect(turns.size).toBe(0);
  });
});
