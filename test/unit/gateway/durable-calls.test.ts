/**
 * Calls whose answers wait for their audit rows: they are sent at once, answered when their row is stored, and never answered without it.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { createChunkLog } from '../../../src/gateway/call-log/call-log.ts';
import { GroupCommit } from '../../../src/gateway/call-log/group-commit.ts';
import { held, LAST, NOTE, result, sequence, taken, createWorld, type Answer } from './audited.ts';
import { createWorld as createDatabase, type Fate } from './chunk-world.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000, toFake: ['Date', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Calls recorded in a database; the test decides when a write is carried out and acknowledged. */
function createDurable(answers: Answer[] = [], fateOf: () => Fate = () => 'done') {
  const gate: (() => void)[] = [];
  let isOpen = true;
  const database = createDatabase(fateOf);
  const write = database.ports.write;
  const gathered = database.gathered;
  database.ports.write = async chunk => {
    if (!isOpen) await new Promise<void>(go => gate.push(go));
    return write(chunk);
  };
  const tokens = { take: async () => undefined };
  const log = createChunkLog(tokens, gathered, new GroupCommit(database));
  const world = createWorld(answers, { log });
  let over: unknown = 'pending';
  return {
    ...world,
    database,
    hold: () => void (isOpen = false),
    release: () => {
      isOpen = true;
      for (const go of gate.splice(0)) go();
    },
    /** Makes a call and reads its reply to the end. */
    make(request = {}) {
      over = 'pending';
      world
        .call(request)
        .then(async ({ reply }) => ('messages' in reply ? taken(reply) : reply))
        .then(
          reply => (over = reply),
          (thrown: unknown) => (over = thrown),
        );
    },
    over: () => over,
    /** The stored rows of calls: their start, and their end. */
    async rows() {
      await database.gathered.flush(0);
      await database.pass(3_000, 100);
      const rows = await database.rows();
      return rows.map(({ outcome, code }) => [outcome, code]).toSorted();
    },
  };
}
const unrecorded = { code: 'call_not_recorded' };

describe('a call whose answer waits for its row', () => {
  it.each<[string, Answer, unknown]>([
    ['an answer', result({ content: [] }), result({ content: [] })],
    ['messages', { messages: sequence(NOTE, LAST) }, [NOTE, LAST]],
    ['a failure', new PorticoError('upstream_5xx'), { reason: { code: 'upstream_5xx' } }],
    [
      'a failure among messages',
      { messages: sequence(NOTE, new PorticoError('upstream_5xx')) },
      { reason: { code: 'upstream_5xx' } },
    ],
  ])('[SEC-6] is sent at once, and gets %s when the row is stored', async (_, answer, expected) => {
    const world = createDurable([answer]);
    world.hold();
    world.make();
    await world.database.pass(500, 100);
    expect(world.sent).toEqual(['echo']);
    expect(world.over()).toBe('pending');
    world.release();
    await world.database.pass(100, 10);
    expect(world.over()).toMatchObject(expected as object);
    const [ended] = (await world.rows()).filter(([outcome]) => outcome !== 'unknown');
    expect(await world.rows()).toEqual([ended, ['unknown', null]]);
  });

  it('[SEC-6] waits no longer if the row was stored before the answer', async () => {
    const { answer, resolve } = held();
    const world = createDurable([answer]);
    world.make();
    await world.database.pass(100, 10);
    expect(await world.database.rows()).toMatchObject([{ outcome: 'unknown' }]);
    world.hold();
    resolve(result({ content: [] }));
    await world.database.pass(1);
    expect(world.over()).toEqual(result({ content: [] }));
  });

  it.each<[string, Answer]>([
    ['answered', result({ content: [] })],
    ['failed', new PorticoError('upstream_5xx')],
    ['answered with messages', { messages: sequence(NOTE, LAST) }],
  ])(
    '[SEC-6] that was %s is reported as made, without its answer, if its row cannot be stored',
    async (_, answer) => {
      let fate: Fate = 'lost';
      const world = createDurable([answer], () => fate);
      world.make();
      await world.database.pass(9_000, 250);
      expect(world.over()).toBe('pending');
      await world.database.pass(3_000, 250);
      const failed = world.over();
      expect(
        failed instanceof PorticoError ? failed : (failed as { reason: unknown }).reason,
      ).toMatchObject(unrecorded);
      fate = 'done';
      await world.database.pass(12_000, 250);
      expect(await world.rows()).toEqual([
        ['failed', 'call_not_recorded'],
        ['unknown', null],
      ]);
    },
  );

  it('[SEC-6] is not sent while nothing can be written', async () => {
    let fate: Fate = 'lost';
    const world = createDurable([], () => fate);
    world.make();
    await world.database.pass(1_000, 100);
    world.make();
    await world.database.pass(2_500, 100);
    expect(world.over()).toMatchObject({ code: 'busy' });
    expect(world.sent).toEqual(['echo']);
    fate = 'done';
    await world.database.pass(14_000, 250);
    expect(await world.rows()).toContainEqual(['failed', 'busy']);
    world.make();
    await world.database.pass(500, 10);
    expect(world.over()).toEqual(result({ content: [] }));
  });

  it('[SEC-6] gets its refusal when its row is stored, or not at all', async () => {
    const reference = { kind: 'tool', name: 'alpha.none' } as const;
    let fate: Fate = 'done';
    const world = createDurable([], () => fate);
    world.hold();
    world.make({ reference });
    await world.database.pass(100, 10);
    expect(world.over()).toBe('pending');
    world.release();
    await world.database.pass(100, 10);
    expect(world.over()).toMatchObject({ code: 'tool_not_found' });
    expect(await world.rows()).toEqual([['denied', 'tool_not_found']]);
    fate = 'lost';
    world.make({ reference });
    await world.database.pass(2_500, 100);
    expect(world.over()).toMatchObject({ code: 'busy' });
  });
});
