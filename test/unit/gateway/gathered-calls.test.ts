/** Ended calls on their way from an isolate to the database: none stored twice, none wrong, none lost unless its isolate dies. */
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/audit/audit-schema.ts';
import { hashOf, type CallChunk } from '../../../src/audit/chunks/call-chunk.ts';
import type { EndedCall } from '../../../src/gateway/call-log/gathered-calls.ts';
import { createRandom, drawn, SEED } from '../seeded.ts';
import { createWorld, ended, GATHER_MS, START, type Fate } from './chunk-world.ts';

const ids = (rows: readonly AuditEvent[]) => rows.map(({ id }) => id).toSorted();

describe('ended calls', () => {
  it('[SEC-6] [EDGE-1] are written together, after a while, as one chunk', async () => {
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

  it('[SEC-6] are written at once if there are many of them, two hundred in a chunk', async () => {
    const { gathered, stored, waitUntil, pass } = createWorld();
    for (let i = 0; i < 450; i += 1) gathered.add(ended(`${i}`), false, waitUntil);
    await pass(1);
    expect([...stored.values()].map(({ calls }) => calls)).toEqual([200, 200, 50]);
  });

  it('[SEC-6] are written at once if no later work is possible', async () => {
    const { gathered, waitUntil, pass, rows } = createWorld();
    gathered.add(ended('a'), false, waitUntil);
    gathered.add(ended('b'), true, waitUntil);
    await pass(0);
    await pass(1);
    expect(ids(await rows())).toEqual(['a', 'b']);
  });

  it('[SEC-6] may be corrected at the moment they end', async () => {
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

  it('[SEC-6] are stored once, however often their chunk is retried', async () => {
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

  it('[SEC-6] that could not be written go with the next chunk', async () => {
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

  it('[SEC-6] are retried as long as the isolate lives', async () => {
    let fate: Fate = 'lost';
    const { gathered, waitUntil, pass, rows } = createWorld(() => fate, { isOneMachine: true });
    gathered.add(ended('a'), false, waitUntil);
    await pass(120_000, 500);
    fate = 'done';
    await pass(10_500, 500);
    expect(ids(await rows())).toEqual(['a']);
  });

  it('[SEC-6] are written by another request if the sender was cut off', async () => {
    const fates: Fate[] = ['never', 'done'];
    const { gathered, waitUntil, pass, rows } = createWorld(() => fates.shift() ?? 'done');
    gathered.add(ended('a'), false, waitUntil);
    await pass(GATHER_MS + 1);
    await pass(10_000, 100);
    gathered.add(ended('b'), false, waitUntil);
    await pass(GATHER_MS + 50, 50);
    expect(ids(await rows())).toEqual(['a', 'b']);
  });

  it('[SEC-6] are packed by another request if the one that packed them was cut off', async () => {
    let isCutOff = true;
    const packing = () => (isCutOff ? 'never' : 'done');
    const { gathered, waitUntil, pass, rows } = createWorld(() => 'done', {}, packing);
    for (let i = 0; i < 200; i += 1) gathered.add(ended(`a${i}`), false, waitUntil);
    await pass(1);
    isCutOff = false;
    await pass(6_000, 100);
    for (let i = 0; i < 200; i += 1) gathered.add(ended(`b${i}`), false, waitUntil);
    await pass(50, 10);
    expect(await rows()).toHaveLength(400);
    // Nothing counts as held any more.
    const flushing = gathered.flush(700);
    await pass(0);
    await flushing;
  });

  it('[SEC-6] hold up no others if a row of theirs cannot be made', async () => {
    const { gathered, waitUntil, pass, rows } = createWorld();
    const started = () => Promise.reject(new Error('no key'));
    gathered.add(ended('a'), false, waitUntil);
    gathered.add(ended('never', { started }), false, waitUntil);
    await pass(GATHER_MS);
    await pass(1);
    expect(ids(await rows())).toEqual(['a']);
  });

  it.each([-60_000, 60_000])(
    '[SEC-6] get an id in the time of the database, whose clock is %i ms ahead',
    async ms => {
      const { gathered, stored, tried, setAhead, waitUntil, pass, rows } = createWorld();
      setAhead(ms);
      gathered.add(ended('a'), false, waitUntil);
      await pass(2_000, 50);
      expect(tried).toHaveLength(2);
      expect(ids(await rows())).toEqual(['a']);
      const [chunk] = stored.values();
      expect(chunk?.hash).toBe(await hashOf(chunk as CallChunk));
      // Later calls use the right time at once.
      gathered.add(ended('b'), false, waitUntil);
      await pass(2_000, 50);
      expect(tried).toHaveLength(3);
    },
  );

  it('[SEC-6] [SEC-9] are held up to a bound, beyond which no call is sent', async () => {
    let fate: Fate = 'lost';
    const { gathered, waitUntil, pass } = createWorld(() => fate);
    for (let i = 0; i < 7_999; i += 1) gathered.add(ended(`${i}`), false, waitUntil);
    expect(gathered.hasRoom(waitUntil)).toBe(true);
    gathered.add(ended('last'), false, waitUntil);
    await pass(10_000, 500);
    expect(gathered.hasRoom(waitUntil)).toBe(false);
    await pass(60_000, 500);
    fate = 'done';
    // The refused call hands over what is held, since no call will end.
    expect(gathered.hasRoom(waitUntil)).toBe(false);
    await pass(10_000, 500);
    expect(gathered.hasRoom(waitUntil)).toBe(true);
  });

  it('[SEC-6] are all stored after the isolate was flushed', async () => {
    const { gathered, waitUntil, pass, rows } = createWorld();
    gathered.add(ended('a'), false, waitUntil);
    const flushing = gathered.flush(700);
    await pass(40, 20);
    await flushing;
    expect(ids(await rows())).toEqual(['a']);
    // With nothing to write it takes no time.
    await gathered.flush(700);
  });

  it('[SEC-6] wake the sealer from time to time', async () => {
    const world = createWorld();
    for (let i = 0; i < 20; i += 1) {
      world.gathered.add(ended(`${i}`), false, world.waitUntil);
      await world.pass(30_000, 500);
    }
    expect(world.stored.size).toBe(20);
    expect(world.woken()).toBe(2);
  });

  it(`[SEC-6] are never stored twice and never lost, whatever happens to packing and writes (seed ${SEED})`, async () => {
    const random = createRandom();
    const FATES: Fate[] = ['done', 'done', 'done', 'lost', 'unheard', 'never', 'slow', 'slow'];
    for (let round = 0; round < drawn(60); round += 1) {
      let isWell = false;
      const fateOf = () => (isWell ? 'done' : random.pick(FATES));
      const world = createWorld(fateOf, {}, fateOf);
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
      // Writes without an acknowledgement are retried by later requests.
      for (let n = 0; n < 3; n += 1) {
        all.push(`${round}-${all.length}`);
        world.gathered.add(ended(all.at(-1) ?? ''), false, world.waitUntil);
        await world.pass(15_000, 250);
      }
      expect(ids(await world.rows())).toEqual(all.toSorted());
    }
  });
});
