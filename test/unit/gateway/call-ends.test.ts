/** Ends of calls on their way to the object: batched, with the next call or soon after, and retried; and a call that cannot be recorded. */
import { describe, expect, it } from 'vitest';
import { createBeforeLog } from '../../../src/gateway/call-log/call-log.ts';
import { CallEnds } from '../../../src/gateway/call-log/call-ends.ts';
import { CallLedger } from '../../../src/gateway/call-log/call-ledger.ts';
import type { CallBeginning, CallEnd } from '../../../src/audit/calls/call-schema.ts';

const CALLER = { principalId: 'p', tokenId: 't' };
const FACTS = { action: 'tool.call', subject: 'a.echo', detail: {} };
const endOf = (id: string): CallEnd => ({ id, outcome: 'done', code: null, detail: {} });

/** A world with a fake clock that the test advances. */
function createWorld(failures = 0) {
  const sent: string[][] = [];
  const begun: CallBeginning[] = [];
  const work: Promise<unknown>[] = [];
  const waiting: { until: number; go: () => void }[] = [];
  let now = 1_000;
  let left = failures;
  const fail = () => {
    if (left <= 0) return;
    left -= 1;
    throw new Error('lost');
  };
  const shard = {
    async begin(beginning: CallBeginning) {
      fail();
      begun.push(beginning);
      return {};
    },
    async end(ended: readonly CallEnd[]) {
      fail();
      sent.push(ended.map(({ id }) => id));
    },
    renew: async () => {},
    settle: async () => {},
  };
  const wait = (ms: number) => new Promise<void>(go => waiting.push({ until: now + ms, go }));
  const ends = new CallEnds({ shardOf: () => shard, wait, now: () => now });
  const settle = async () => {
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
  };
  return {
    ends,
    sent,
    begun,
    work,
    waitUntil: (each: Promise<unknown>) => void work.push(each),
    ledger: new CallLedger({
      // No test waits for the object.
      log: createBeforeLog({ shardOf: () => shard, ends, wait: async () => {} }),
      tokens: { take: async () => undefined },
      budgets: { take: async () => {}, refund: () => {} },
      keys: { digest: async () => 'k1.digest' },
      isRecording: true,
      limits: {},
    }),
    async pass(ms: number) {
      await settle();
      now += ms;
      for (const each of waiting.splice(0)) {
        if (each.until <= now) each.go();
        else waiting.push(each);
      }
      await settle();
    },
  };
}

describe('ends of calls', () => {
  it('[SEC-6] are sent together, a moment later', async () => {
    const { ends, sent, work, waitUntil, pass } = createWorld();
    for (const id of ['a', 'b', 'c']) ends.bring('p', endOf(id), waitUntil);
    expect(work).toHaveLength(1);
    await pass(19);
    expect(sent).toEqual([]);
    await pass(1);
    expect(sent).toEqual([['a', 'b', 'c']]);
    ends.bring('p', endOf('d'), waitUntil);
    await pass(20);
    expect(sent).toEqual([['a', 'b', 'c'], ['d']]);
    await Promise.all(work);
  });

  it('[SEC-6] go along with the next call, except those of the same instant', async () => {
    const { ends, sent, begun, ledger, waitUntil, pass } = createWorld();
    ends.bring('p', endOf('a'), waitUntil);
    ends.bring('other', endOf('z'), waitUntil);
    await pass(5);
    ends.bring('p', endOf('b'), waitUntil);
    await ledger.begin({ id: 'n', caller: CALLER, at: 0, facts: FACTS }, waitUntil);
    expect(begun.map(({ ended }) => ended.map(({ id }) => id))).toEqual([['a']]);
    await pass(15);
    expect(sent).toEqual([['b'], ['z']]);
  });

  it('[SEC-6] are sent again if they did not arrive', async () => {
    const { ends, sent, work, waitUntil, pass } = createWorld(2);
    ends.bring('p', endOf('a'), waitUntil);
    for (const ms of [20, 250, 1_000]) await pass(ms);
    expect(sent).toEqual([['a']]);
    await Promise.all(work);
  });

  it('[SEC-6] are retried at growing intervals, and then left to their leases', async () => {
    const { ends, sent, work, waitUntil, pass } = createWorld(5);
    ends.bring('p', endOf('a'), waitUntil);
    await pass(20);
    // The last try is the fifth, after all waits, and not a moment before.
    for (const ms of [249, 1, 999, 1, 3_999, 1, 9_999, 1]) await pass(ms);
    await Promise.all(work);
    expect(sent).toEqual([]);
    const lucky = createWorld(4);
    lucky.ends.bring('p', endOf('a'), lucky.waitUntil);
    await lucky.pass(20);
    for (const ms of [250, 1_000, 4_000, 9_999]) await lucky.pass(ms);
    expect(lucky.sent).toEqual([]);
    await lucky.pass(1);
    expect(lucky.sent).toEqual([['a']]);
  });

  it('[SEC-6] are sent 256 at a time, and no message is sent if none are left', async () => {
    const { ends, sent, waitUntil, pass } = createWorld();
    const bring = async (count: number) => {
      for (let i = 0; i < count; i += 1) ends.bring('p', endOf(`${i}`), waitUntil);
      await pass(20);
      return sent.splice(0).map(({ length }) => length);
    };
    expect(await bring(256)).toEqual([256]);
    expect(await bring(257)).toEqual([256, 1]);
    ends.bring('p', endOf('taken'), waitUntil);
    await pass(1);
    expect(ends.take('p')).toHaveLength(1);
    await pass(19);
    expect(sent).toEqual([]);
  });

  it('[SEC-6] are taken over by a new sender if the former may have been cut off', () => {
    let now = 1_000;
    const shardOf = () => ({ end: async () => {}, settle: async () => {} });
    const ends = new CallEnds({ shardOf, wait: () => new Promise(() => {}), now: () => now });
    const work: Promise<unknown>[] = [];
    const bringAt = (at: number) => {
      now = at;
      ends.bring('p', endOf(`${at}`), each => void work.push(each));
      return work.length;
    };
    expect([1_000, 1_001, 1_039, 1_040, 1_041].map(bringAt)).toEqual([1, 1, 1, 2, 2]);
  });

  it('[SEC-6] are sent at once if no later work is possible', async () => {
    const { ends, sent, work, waitUntil, pass } = createWorld();
    waitUntil(ends.bringNow('p', endOf('a')));
    expect(sent).toEqual([['a']]);
    await pass(0);
    await Promise.all(work);
    const unlucky = createWorld(1);
    unlucky.waitUntil(unlucky.ends.bringNow('p', endOf('b')));
    await unlucky.pass(249);
    expect(unlucky.sent).toEqual([]);
    await unlucky.pass(1);
    expect(unlucky.sent).toEqual([['b']]);
    await Promise.all(unlucky.work);
  });
});

describe('a call that begins', () => {
  it('[SEC-6] is announced again under the same id, and not made if that fails too', async () => {
    const lucky = createWorld(3);
    await lucky.ledger.begin({ id: 'id', caller: CALLER, at: 7, facts: FACTS }, lucky.waitUntil);
    expect(lucky.begun).toMatchObject([{ principalId: 'p', call: { id: 'id', at: 7 } }]);
    const { ledger, ends, begun, waitUntil, pass } = createWorld(100);
    ends.bring('p', endOf('earlier'), waitUntil);
    await pass(1);
    await expect(
      ledger.begin({ id: 'id', caller: CALLER, at: 0, facts: FACTS }, waitUntil),
    ).rejects.toMatchObject({
      code: 'busy',
    });
    expect(begun).toEqual([]);
    expect(ends.take('p')).toEqual([endOf('earlier')]);
  });
});
