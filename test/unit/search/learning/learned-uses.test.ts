/** The uses that an isolate holds: when they are read, for whom they count, and where they give no lift. */
import { describe, expect, it } from 'vitest';

import { DAY_MS } from '../../../../src/shared/util/utc-day.ts';
import { LearnedUses } from '../../../../src/search/learning/learned-uses.ts';
import type { LearnedUse } from '../../../../src/search/learning/uses.ts';
import { createRecord } from '../../gateway/fakes.ts';

const SERVER = createRecord('desk');
const HOUR_MS = 3_600_000;
const QUERY = 'create an issue';
const never = () => new Promise<never>(() => {});

const useOf = (word: string, principalId: string, more: Partial<LearnedUse> = {}): LearnedUse => ({
  serverId: SERVER.id,
  tool: 'create_issue',
  catalogHash: SERVER.catalogHash,
  word,
  principalId,
  day: 100,
  ...more,
});
const WORDS = ['creat', 'issu'];
const bothWords = (principalId: string, more: Partial<LearnedUse> = {}) =>
  WORDS.map(word => useOf(word, principalId, more));

function createWorld(list: () => Promise<LearnedUse[]>) {
  const world = { reads: 0, now: 100 * DAY_MS, waits: 0 };
  const learned = new LearnedUses({
    list: () => {
      world.reads += 1;
      return list();
    },
    digest: async word => word,
    wait: async () => void (world.waits += 1),
    now: () => world.now,
  });
  const liftFor = async (who: string, query = QUERY, server = SERVER, tool = 'create_issue') =>
    (await learned.liftOf(who, query))?.(server, tool) ?? 0;
  return { world, learned, liftFor };
}

describe('learned uses', () => {
  it('[FIND-4] are read once an hour, whoever searches', async () => {
    const { world, liftFor } = createWorld(async () => bothWords('ada'));
    await Promise.all(['ada', 'bob', 'ada'].map(who => liftFor(who)));
    expect(await liftFor('ada')).toBeCloseTo(0.25);
    world.now += HOUR_MS - 1;
    expect(await liftFor('bob')).toBe(0);
    expect(world.reads).toBe(1);
    world.now += 1;
    await liftFor('bob');
    expect(world.reads).toBe(2);
  });

  it('[FIND-4] delay a search by a moment only, and a failed read is retried after a minute', async () => {
    let isThere = false;
    const { world, liftFor } = createWorld(() =>
      isThere ? Promise.resolve(bothWords('ada')) : never(),
    );
    expect(await liftFor('ada')).toBe(0);
    expect(world).toMatchObject({ reads: 1, waits: 1 });
    isThere = true;
    expect(await liftFor('ada')).toBe(0);
    world.now += 60_000;
    expect(await liftFor('ada')).toBeCloseTo(0.25);
    expect(world.reads).toBe(2);
  });

  it('[FIND-4] fail no search, and stay as they were if a later read fails', async () => {
    let isFailing = false;
    const { world, liftFor } = createWorld(() =>
      isFailing ? Promise.reject(new Error('D1')) : Promise.resolve(bothWords('ada')),
    );
    expect(await liftFor('ada')).toBeCloseTo(0.25);
    isFailing = true;
    world.now += HOUR_MS;
    expect(await liftFor('ada')).toBeCloseTo(0.25);
    expect(world.reads).toBe(2);
  });

  it('[FIND-4] are forgotten, also if they are being read meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<LearnedUse[]>();
    let stored = () => promise;
    const { world, learned, liftFor } = createWorld(() => stored());
    expect(await liftFor('ada')).toBe(0);
    learned.forget();
    stored = async () => [];
    expect(await liftFor('ada')).toBe(0);
    resolve(bothWords('ada'));
    await promise;
    expect(await liftFor('ada')).toBe(0);
    expect(world.reads).toBe(2);
  });

  it('[FIND-4] [SEC-7] give no lift for another catalog, another tool, or another query', async () => {
    const { liftFor } = createWorld(async () => bothWords('ada'));
    expect(await liftFor('ada')).toBeCloseTo(0.25);
    expect(await liftFor('ada', QUERY, { ...SERVER, catalogHash: 'another' })).toBe(0);
    expect(await liftFor('ada', QUERY, SERVER, 'delete_issue')).toBe(0);
    expect(await liftFor('ada', 'create an invoice')).toBe(0);
    expect(await liftFor('ada', 'the')).toBe(0);
  });
});
