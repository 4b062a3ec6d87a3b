/** Uses on their way to the database: batched, written once an hour, and bounded. */
import { describe, expect, it } from 'vitest';

import { rawMembers } from '../../../../src/shared/json/json-spans.ts';
import { DAY_MS } from '../../../../src/shared/util/utc-day.ts';
import { GatheredUses, WRITTEN_MS } from '../../../../src/search/learning/gathered-uses.ts';
import type { NewUse } from '../../../../src/search/learning/uses.ts';
import { createRecord } from '../../gateway/fakes.ts';

const item = { key: 'echo', raw: rawMembers('{"name":"echo"}') };
const TOOL = { server: createRecord('desk'), item };

function createWorld(write: () => void | Promise<void> = () => {}) {
  const world = { now: 100 * DAY_MS, written: [] as (readonly NewUse[])[] };
  const left: Promise<unknown>[] = [];
  const gathered = new GatheredUses({
    write: async uses => {
      await write();
      world.written.push(uses);
    },
    digest: async word => `k1.${word}`,
    gatherMs: 1_000,
    wait: async () => {},
    now: () => world.now,
  });
  const add = (who: string, words: string[], tool = TOOL) =>
    gathered.add(who, tool, words, work => void left.push(work));
  const settle = () => Promise.all(left.splice(0));
  return { world, gathered, add, settle, left };
}

describe('gathered uses', () => {
  it('[FIND-4] are written together, each with the fingerprint of the called tool', async () => {
    const { world, add, settle, left } = createWorld();
    add('ada', ['a', 'b']);
    add('bob', ['a']);
    expect(left).toHaveLength(1);
    await settle();
    const [batch = []] = world.written;
    expect(world.written).toHaveLength(1);
    expect(batch.map(({ principalId, word, day }) => [principalId, word, day])).toEqual([
      ['ada', 'k1.a', 100],
      ['ada', 'k1.b', 100],
      ['bob', 'k1.a', 100],
    ]);
    expect(new Set(batch.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    expect(batch[0]?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('[FIND-4] are written once an hour and day, and again if the catalog changed', async () => {
    const { world, add, settle } = createWorld();
    for (let n = 0; n < 3; n += 1) {
      add('ada', ['a']);
      await settle();
    }
    expect(world.written).toHaveLength(1);
    add('ada', ['a', 'b']);
    await settle();
    expect(world.written[1]?.map(({ word }) => word)).toEqual(['k1.b']);
    add('ada', ['a'], { ...TOOL, server: { ...TOOL.server, catalogHash: 'another' } });
    await settle();
    expect(world.written).toHaveLength(3);
    const later = async (ms: number) => {
      world.now += ms;
      add('ada', ['a']);
      await settle();
      return world.written.slice(3).map(uses => uses.map(({ day }) => day));
    };
    // Another isolate may have been told to forget.
    expect(await later(WRITTEN_MS - 1)).toEqual([]);
    expect(await later(1)).toEqual([[100]]);
    await later(DAY_MS - WRITTEN_MS - 1);
    expect(await later(1)).toEqual([[100], [100], [101]]);
  });

  it('[FIND-4] are written by the next request if the one that was to write them was cut off', async () => {
    let now = 100 * DAY_MS;
    let waits = 0;
    const written: NewUse[] = [];
    const left: Promise<unknown>[] = [];
    const gathered = new GatheredUses({
      write: async uses => void written.push(...uses),
      digest: async word => `k1.${word}`,
      gatherMs: 1_000,
      wait: () => ((waits += 1) === 1 ? new Promise(() => {}) : Promise.resolve()),
      now: () => now,
    });
    const add = (word: string) => gathered.add('ada', TOOL, [word], work => void left.push(work));
    for (let n = 0; n < 250; n += 1) add(`w${n}`);
    now += 10_000;
    add('late');
    expect(left).toHaveLength(2);
    await left[1];
    expect(written).toHaveLength(200);
  });

  it('[FIND-4] are written again once what was learned is forgotten, also if a write was under way', async () => {
    let onWrite = () => {};
    const { world, gathered, add, settle } = createWorld(() => onWrite());
    const written = async () => {
      add('ada', ['a']);
      await settle();
      return world.written.length;
    };
    expect([await written(), await written()]).toEqual([1, 1]);
    gathered.forget();
    onWrite = () => gathered.forget();
    expect(await written()).toBe(2);
    onWrite = () => {};
    expect([await written(), await written()]).toEqual([3, 3]);
  });

  it('[FIND-4] that could not be written are written with the next call', async () => {
    let isFailing = true;
    const { world, add, settle } = createWorld(() => {
      if (isFailing) throw new Error('D1');
    });
    add('ada', ['a']);
    await settle();
    isFailing = false;
    add('ada', ['a']);
    await settle();
    expect(world.written).toHaveLength(1);
  });

  it('[FIND-4] [SEC-9] are bounded', async () => {
    const { world, add, settle } = createWorld();
    for (let n = 0; n < 500; n += 1) add(`p${n}`, ['a']);
    await settle();
    expect(world.written.map(uses => uses.length)).toEqual([200]);
  });
});
