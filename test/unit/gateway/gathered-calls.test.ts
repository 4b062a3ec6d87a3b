/** Ended calls on their way from an isolate to the database: none twice, none wrong, none lost but with their isolate. */
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/audit/audit-schema.ts';
import { hashOf, type CallChunk } from '../../../src/audit/chunks/call-chunk.ts';
import type { EndedCall } from '../../../src/gateway/call-log/gathered-calls.ts';
import { createRandom, drawn, SEED } from '../seeded.ts';
import { createWorld, ended, GATHER_MS, START, type Fate } from './chunk-world.ts';

const ids = (rows: readonly AuditEvent[]) => rows.map(({ id }) => id).toSorted();

describe('ended calls', () => {
  it('[SEC-6] [EDGE-1] go together, after a while, as one chunk', async () => {
    const { gathered, stored, work, waitUntil, pass, rows } = createWorld();
    for (const id of ['a', 'b', 'c']) gathered.add(ended(id), false, waitUntil);
    expect(work).toHaveLength(1);
    await pass(GATHER_MS);
    expect(stored.size).toBe(0);
    await pass(1);
    expect(stored.size).toBe(1);
    expect(ids(await rows())).toEqual(['a', 'b', 'c']);
    expect((await rows())[0]).toEqual({
      id: 'a',
      at: START,
      principalId: 'p',
      tokenId: 't',
      action: 'tool.call',
      subject: 'a.echo',
      outcome: 'done',
      code: null,
      detail: {
        door: 'modern',
        duration_ms: 3,
      },
    });
    await Promise.all(work);
    gathered.add(ended('d'), false, waitUntil);
    await pass(GATHER_MS);
    await pass(1);
    expect(ids(await rows())).toEqual(['a', 'b', 'c', 'd']);
  });

  it('[SEC-6] go at once where there are many of them, two hundred in a chunk', async () => {
    const { gathered, stored, waitUntil, pass } = createWorld();
    for (let i = 0; i < 450; i += 1) gathered.add(ended(`${i}`), false, waitUntil);
    await pass(1);
    expect([...stored.values()].map(({ calls }) => calls)).toEqual([200, 200, 50]);
  });

  it('[SEC-6] go at once where nothing may be begun later', async () => {
    const { gathered, waitUntil, pass, rows } = createWorld();
    gathered.add(ended('a'), false, waitUntil);
    gathered.add(ended('b'), true, waitUntil);
    await pass(0);
    await pass(1);
    expect(ids(await rows())).toEqual(['a', 'b']);
  });

  it('[SEC-6] may be corrected in the moment of their end', async () => {
    const { gathered, waitUntil, pass, rows } = createWorld();
    const end: EndedCall['end'] = { outcome: 'done', code: null, detail: {} };
    for (let i = 0; i < 199; i += 1) gathered.add(ended(`${i}`), false, waitUntil);
    gathered.add(ended('last', { end }), false, waitUntil);
    end.outcome = 'failed';
    end.code = 'upstream_bad_message';
    await pass(1);
    expect((await rows()).find(({ id }) => id === 'last')).toMatchObject({
      outcome: 'failed',
      code: 'upstream_bad_message',
    });
  });

  it('[SEC-6] are there once, however often their chunk is tried', async () => {
    const fates: Fate[] = ['lost', 'unheard', 'unheard', 'done'];
    const { gathered, stored, tried, waitUntil, pass, rows } = createWorld(
      () => fates.shift() ?? 'done',
    );
    gathered.add(ended('a'), false, waitUntil);
    await pass(10_000, 50);
    expect(tried).toHaveLength(4);
    expect(new Set(tried).size).toBe(1);
    expect(stored.size).toBe(1);
    expect(ids(await rows())).toEqual(['a']);
  });

  it('[SEC-6] that could not be handed over go with the next', async () => {
    let fate: Fate = 'lost';
    const { gathered, waitUntil, pass, rows } = createWorld(() => fate);
    gathered.add(ended('a'), false, waitUntil);
    await pass(12_000, 50);
    expect(await rows()).toEqual([]);
    fate = 'done';
    gathered.add(ended('b'), false, waitUntil);
    await pass(GATHER_MS + 50, 50);
    expect(ids(await rows())).toEqual(['a', 'b']);
  });

  it('[SEC-6] are tried on and on where the isolate lives on', async () => {
    let fate: Fate = 'lost';
    const { gathered, waitUntil, pass, rows } = createWorld(() => fate, { isOneMachine: true });
    gathered.add(ended('a'), false, waitUntil);
    await pass(120_000, 500);
    fate = 'done';
    await pass(10_500, 500);
    expect(ids(await rows())).toEqual(['a']);
  });

  it('[SEC-6] are handed over by others where who set out was cut off', async () => {
    const fates: Fate[] = ['never', 'done'];
    const { gathered, waitUntil, pass, rows } = createWorld(() => fates.shift() ?? 'done');
    gathered.add(ended('a'), false, waitUntil);
    await pass(GATHER_MS + 1);
    await pass(10_000, 100);
    gathered.add(ended('b'), false, waitUntil);
    await pass(GATHER_MS + 50, 50);
    expect(ids(await rows())).toEqual(['a', 'b']);
  });

  it.each([-60_000, 60_000])(
    '[SEC-6] get an id of the time of the database, whose clock is %i ms ahead',
    async ms => {
      const { gathered, stored, tried, setAhead, waitUntil, pass, rows } = createWorld();
      setAhead(ms);
      gathered.add(ended('a'), false, waitUntil);
      await pass(2_000, 50);
      expect(tried).toHaveLength(2);
      expect(ids(await rows())).toEqual(['a']);
      const [chunk] = stored.values();
      expect(chunk?.hash).toBe(await hashOf(chunk as CallChunk));
      // What comes later has the right time at once.
      gathered.add(ended('b'), false, waitUntil);
      await pass(2_000, 50);
      expect(tried).toHaveLength(3);
    },
  );

  it('[SEC-6] [SEC-9] are held up to a bound, beyond which no call leaves', async () => {
    let fate: Fate = 'lost';
    const { gathered, waitUntil, pass } = createWorld(() => fate);
    for (let i = 0; i < 7_999; i += 1) gathered.add(ended(`${i}`), false, waitUntil);
    expect(gathered.isFull).toBe(false);
    gathered.add(ended('last'), false, waitUntil);
    expect(gathered.isFull).toBe(true);
    await pass(10_000, 500);
    expect(gathered.isFull).toBe(true);
    fate = 'done';
    gathered.add(ended('more'), false, waitUntil);
    await pass(10_000, 500);
    expect(gathered.isFull).toBe(false);
  });

  it('[SEC-6] are all there when the isolate was told to bring them out', async () => {
    const { gathered, waitUntil, pass, rows } = createWorld();
    gathered.add(ended('a'), false, waitUntil);
    const flushing = gathered.flush(700);
    await pass(40, 20);
    await flushing;
    expect(ids(await rows())).toEqual(['a']);
    // With nothing to bring it takes no time.
    await gathered.flush(700);
  });

  it('[SEC-6] wake who seals them, now and then', async () => {
    const world = createWorld();
    for (let i = 0; i < 20; i += 1) {
      world.gathered.add(ended(`${i}`), false, world.waitUntil);
      await world.pass(30_000, 500);
    }
    expect(world.stored.size).toBe(20);
    expect(world.woken()).toBe(2);
  });

  it(`[SEC-6] are never there twice and never lost, whatever becomes of the writes (seed ${SEED})`, async () => {
    const random = createRandom();
    const FATES: Fate[] = ['done', 'done', 'done', 'lost', 'unheard', 'never', 'slow', 'slow'];
    for (let round = 0; round < drawn(60); round += 1) {
      let isWell = false;
      const world = createWorld(() => (isWell ? 'done' : random.pick(FATES)));
      if (random.chance(0.3)) world.setAhead(random.below(100_000) - 50_000);
      const all: string[] = [];
      for (let n = 0; n < 40; n += 1) {
        for (let many = random.below(random.chance(0.1) ? 300 : 5); many > 0; many -= 1) {
          all.push(`${round}-${all.length}`);
          world.gathered.add(ended(all.at(-1) ?? ''), random.chance(0.1), world.waitUntil);
        }
        await world.pass(random.below(1_500), 100);
      }
      isWell = true;
      // Writes that nobody will ever hear of are tried again by whoever comes later.
      for (let n = 0; n < 3; n += 1) {
        all.push(`${round}-${all.length}`);
        world.gathered.add(ended(all.at(-1) ?? ''), false, world.waitUntil);
        await world.pass(15_000, 250);
      }
      expect(ids(await world.rows())).toEqual(all.toSorted());
    }
  });
});
