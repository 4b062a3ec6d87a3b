/** Coalesced work: done at once when idle, and in batches when it is requested faster than it can be done. */
import { describe, expect, it } from 'vitest';
import { Coalescing } from '../../../src/shared/util/coalescing.ts';

function started(most = 10, mostWeight = 1_000) {
  const rounds: string[][] = [];
  const pauses: PromiseWithResolvers<unknown>[] = [];
  const waited: number[] = [];
  const coalescing = new Coalescing<string, number>({
    work: async values => {
      rounds.push([...values]);
      if (values.includes('bad')) throw new Error('bad round');
      return Promise.resolve(rounds.length);
    },
    pauseMs: 100,
    most,
    mostWeight,
    weightOf: value => value.length,
    wait(ms) {
      waited.push(ms);
      const pause = Promise.withResolvers<unknown>();
      pauses.push(pause);
      return pause.promise;
    },
  });
  const turn = () => new Promise(resolve => setImmediate(resolve));
  const rested = async () => {
    while (pauses.length === 0) await turn();
    pauses.shift()?.resolve(undefined);
    await turn();
  };
  return { coalescing, rounds, waited, rested };
}

describe('[SEC-9] work that is requested too often', () => {
  it('is done at once, then in batches with the last of each kind', async () => {
    const { coalescing, rounds, waited, rested } = started();
    expect(await coalescing.add('a', 'a1')).toBe(1);
    const later = ['a2', 'b1', 'a3'].map(value => coalescing.add(value.charAt(0), value));
    await rested();
    expect(await Promise.all(later)).toEqual([2, 2, 2]);
    expect(rounds).toEqual([['a1'], ['b1', 'a3']]);
    expect(waited.every(ms => ms >= 100)).toBe(true);
    await rested();
    expect(await coalescing.add('a', 'a4')).toBe(3);
  });

  it('is dropped beyond its bounds', async () => {
    const { coalescing, rounds, rested } = started(2, 10);
    await coalescing.add('a', 'x'.repeat(50));
    for (const value of ['b1', 'c1', 'd1', `b${'x'.repeat(20)}`, 'b2']) {
      void coalescing.add(value.charAt(0), value);
    }
    await rested();
    expect(rounds).toEqual([['x'.repeat(50)], ['c1', 'b2']]);
  });

  it('continues after a batch that failed', async () => {
    const { coalescing, rested } = started();
    await expect(coalescing.add('a', 'bad')).rejects.toThrow('bad round');
    const next = coalescing.add('a', 'good');
    await rested();
    expect(await next).toBe(2);
  });
});
