/**
 * Rows that a caller waits for are written in batches, one commit after the other, and each is stored once when it is reported as stored.
 */
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/audit/audit-schema.ts';
import type { CallChunk } from '../../../src/audit/chunks/call-chunk.ts';
import { GroupCommit } from '../../../src/gateway/call-log/group-commit.ts';
import { createRandom, drawn, SEED } from '../seeded.ts';
import { createWorld, ended, readChunk, type Fate } from './chunk-world.ts';

const OPEN = { outcome: 'unknown', code: null, detail: {} } as const;
const open = (id: string) => ended(id, { end: OPEN });
/** Duration of a write. */
const FAR_MS = 30;

function createCommits(fateOf?: () => Fate, more = {}) {
  const world = createWorld(fateOf, more);
  const commits = new GroupCommit(world);
  const told = new Map<string, boolean>();
  const add = (id: string, ms = 10_000) => {
    const row = commits.add(open(id), world.waitUntil);
    void row.isStoredWithin(ms).then(isStored => told.set(id, isStored));
  };
  return { ...world, commits, told, add };
}

/** A world with slow writes. */
function createFar() {
  const writes: { calls: number; at: number }[] = [];
  const far = createCommits(() => 'done', {
    write: async (chunk: CallChunk) => {
      writes.push({ calls: chunk.calls, at: far.now() });
      await far.wait(FAR_MS);
      far.stored.set(chunk.id, chunk);
      return { isThere: true, now: far.now() };
    },
  });
  return { ...far, writes };
}

describe('rows that a caller waits for', () => {
  it('[SEC-6] are written at once, and those that come meanwhile together, one commit after the other', async () => {
    const { add, writes, pass, told } = createFar();
    add('first');
    await pass(1);
    for (let n = 0; n < 64; n += 1) add(`${n}`);
    await pass(FAR_MS - 2);
    expect(writes.map(({ calls }) => calls)).toEqual([1]);
    expect(told.size).toBe(0);
    await pass(2, 1);
    expect(told).toEqual(new Map([['first', true]]));
    await pass(1);
    for (let n = 64; n < 100; n += 1) add(`${n}`);
    await pass(2 * FAR_MS + 5, 1);
    expect(writes.map(({ calls }) => calls)).toEqual([1, 64, 36]);
    expect(told.size).toBe(101);
  });

  it('[SEC-6] take ended calls along', async () => {
    const { add, gathered, waitUntil, pass, writes } = createFar();
    gathered.add(ended('a'), false, waitUntil);
    await pass(5);
    add('b');
    await pass(FAR_MS + 1);
    expect(writes).toHaveLength(1);
    expect(writes[0]?.calls).toBe(2);
  });

  it('[SEC-6] do not depend on a request that was cut off in its commit', async () => {
    const fates: Fate[] = ['never'];
    const { add, pass, told, rows } = createCommits(() => fates.shift() ?? 'done');
    add('a');
    await pass(10);
    add('b');
    await pass(4_000, 100);
    expect(told.size).toBe(0);
    await pass(6_000, 100);
    expect(Object.fromEntries(told)).toEqual({ a: true, b: true });
    expect((await rows()).map(({ id }) => id).toSorted()).toEqual(['a', 'b']);
  });

  it.each([false, true])(
    '[SEC-6] are reported missing if they cannot be written, and are written later (one machine: %s)',
    async isOneMachine => {
      let fate: Fate = 'lost';
      const world = createCommits(() => fate, { isOneMachine });
      world.add('a', 3_000);
      await world.pass(3_100, 50);
      expect(world.told.get('a')).toBe(false);
      expect(world.commits.isFailing).toBe(true);
      fate = 'done';
      await world.pass(12_000, 100);
      expect(await world.rows()).toMatchObject([{ id: 'a', outcome: 'unknown' }]);
      expect(world.commits.isFailing).toBe(false);
    },
  );

  it('[SEC-6] wake the sealer', async () => {
    const { add, pass, woken } = createFar();
    add('a');
    await pass(FAR_MS + 1);
    expect(woken()).toBe(1);
  });

  it(`[SEC-6] are stored once when reported as stored, whatever happens to the writes (seed ${SEED})`, async () => {
    const random = createRandom();
    const FATES: Fate[] = ['done', 'done', 'done', 'lost', 'unheard', 'never', 'slow'];
    for (let round = 0; round < drawn(25); round += 1) {
      let isWell = false;
      const world = createCommits(() => (isWell ? 'done' : random.pick(FATES)), {
        isOneMachine: random.chance(0.3),
      });
      if (random.chance(0.3)) world.setAhead(random.below(100_000) - 50_000);
      const begun: string[] = [];
      const over: string[] = [];
      const read = new Map<string, AuditEvent[]>();
      const rowsOfChunks = () => {
        for (const chunk of world.stored.values()) {
          if (!read.has(chunk.id)) read.set(chunk.id, readChunk(chunk));
        }
        return [...read.values()].flat();
      };
      for (let n = 0; n < 15; n += 1) {
        for (let many = random.below(random.chance(0.1) ? 250 : 5); many > 0; many -= 1) {
          const id = `${round}-${begun.length}`;
          begun.push(id);
          world.add(id);
          if (random.chance(0.6)) {
            over.push(id);
            world.gathered.add(ended(id), random.chance(0.1), world.waitUntil);
          }
        }
        await world.pass(random.below(1_500), 100);
        const there = new Set(rowsOfChunks().map(({ id }) => id));
        const wrong = [...world.told].filter(([id, isThere]) => isThere && !there.has(id));
        expect(wrong).toEqual([]);
      }
      isWell = true;
      for (let n = 0; n < 4; n += 1) {
        begun.push(`${round}-${begun.length}`);
        world.add(begun.at(-1) ?? '');
        await world.pass(15_000, 250);
      }
      const all = rowsOfChunks();
      const idsOf = (isOpen: boolean) =>
        all.filter(({ outcome }) => (outcome === 'unknown') === isOpen).map(({ id }) => id);
      expect(idsOf(true).toSorted()).toEqual(begun.toSorted());
      expect(idsOf(false).toSorted()).toEqual(over.toSorted());
    }
  });
});
