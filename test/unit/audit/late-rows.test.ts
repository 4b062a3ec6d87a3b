/** Rows that wait in their objects after a full disk: they are collected within bounds, one collection at a time, until none is left. */
import { expect, it } from 'vitest';
import { CallEnds } from '../../../src/gateway/call-log/call-ends.ts';
import type { CallEnd } from '../../../src/audit/calls/call-schema.ts';
import { LateRows } from '../../../src/audit/late-rows.ts';

const endOf = (id: string): CallEnd => ({ id, outcome: 'done', code: null, detail: {} });

/** A machine whose disk is sometimes full. */
function createMachine() {
  const disk = { isFull: false };
  const ended: string[] = [];
  const looks: { principal: string; at: number }[] = [];
  const waiting: { until: number; go: () => void }[] = [];
  let now = 1_000;
  const ports = {
    shardOf: (principal: string) => ({
      end: async (ends: readonly CallEnd[]) => {
        if (disk.isFull) throw new Error('full');
        ended.push(...ends.map(({ id }) => id));
      },
      settle: async () => {
        looks.push({ principal, at: now });
        if (disk.isFull) throw new Error('full');
      },
    }),
    wait: (ms: number) => new Promise<void>(go => waiting.push({ until: now + ms, go })),
    now: () => now,
  };
  /** Advances time second by second. */
  const pass = async (seconds: number) => {
    for (let second = 0; second <= seconds; second += 1) {
      for (let n = 0; n < 30; n += 1) await Promise.resolve();
      if (second === seconds) return;
      now += 1_000;
      for (const each of waiting.splice(0)) {
        if (each.until <= now) each.go();
        else waiting.push(each);
      }
    }
  };
  return { disk, ended, looks, ports, pass, waiting };
}

it('[SEC-6] are collected once if all is well, and not polled afterwards', async () => {
  const { ports, looks, pass, waiting } = createMachine();
  const late = new LateRows(ports);
  void late.see('p', []);
  void late.see('p', []);
  await pass(60);
  expect(looks).toEqual([{ principal: 'p', at: 6_000 }]);
  expect(waiting).toEqual([]);
  await Promise.all([late.see('p', []), pass(5)]);
  expect(looks).toHaveLength(2);
});

it('[SEC-6] are collected again for calls that ended during a collection', async () => {
  const { ports, looks, pass } = createMachine();
  const late = new LateRows({
    ...ports,
    shardOf: principal => ({
      ...ports.shardOf(principal),
      settle: async () => {
        await ports.shardOf(principal).settle();
        if (looks.length === 1) void late.see('p', []);
      },
    }),
  });
  void late.see('p', []);
  await pass(60);
  expect(looks).toHaveLength(2);
});

it('[SEC-6] are written within a minute of free space, without a call, however long the disk was full', async () => {
  const { disk, ports, ended, looks, pass } = createMachine();
  const ends = new CallEnds({ ...ports, isOneMachine: true });
  const work: Promise<unknown>[] = [];
  disk.isFull = true;
  ends.bring('p', endOf('a'), each => void work.push(each));
  await pass(600);
  expect(ended).toEqual([]);
  const before = looks.length;
  disk.isFull = false;
  await pass(25);
  expect(ended).toEqual(['a']);
  expect(looks).toHaveLength(before + 1);
  await Promise.all(work);
});

it('[SEC-6] are left to the alarms of their objects if there are many machines', async () => {
  const { ports, ended, looks, pass } = createMachine();
  const ends = new CallEnds(ports);
  const work: Promise<unknown>[] = [];
  ends.bring('p', endOf('a'), each => void work.push(each));
  await pass(1);
  await Promise.all(work);
  await pass(60);
  expect(ended).toEqual(['a']);
  expect(looks).toEqual([]);
});

it('[SEC-6] are collected by another request if the first collector was cut off', async () => {
  const { ports, looks, pass, waiting } = createMachine();
  const late = new LateRows(ports);
  void late.see('p', []);
  await pass(0);
  waiting.length = 0;
  void late.see('p', []);
  await pass(34);
  void late.see('p', []);
  expect(waiting).toEqual([]);
  await pass(1);
  void late.see('p', []);
  await pass(5);
  expect(looks).toHaveLength(1);
});

it('[SEC-6] are remembered for 1,000 principals, with 256 ends for one', async () => {
  const { disk, ports, ended, looks, pass } = createMachine();
  const late = new LateRows(ports);
  disk.isFull = true;
  for (let n = 0; n < 1_001; n += 1) void late.see(`p${n}`, []);
  void late.see(
    'p0',
    Array.from({ length: 300 }, (_, n) => endOf(`${n}`)),
  );
  void late.see('p0', [endOf('more')]);
  await pass(5);
  disk.isFull = false;
  await pass(60);
  expect(new Set(looks.map(({ principal }) => principal)).size).toBe(1_000);
  expect(ended).toHaveLength(256);
});
