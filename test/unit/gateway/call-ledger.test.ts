/** What is recorded and limited for a call in the one message before it is sent, and how the answer is handled. */
import { describe, expect, it } from 'vitest';
import {
  createBeforeLog,
  type PendingCall,
  type CallLog,
} from '../../../src/gateway/call-log/call-log.ts';
import { CallEnds } from '../../../src/gateway/call-log/call-ends.ts';
import {
  CallLedger,
  outcomeOfCode,
  type CallFacts,
  type CallLedgerPorts,
} from '../../../src/gateway/call-log/call-ledger.ts';
import type { NamedLimit } from '../../../src/audit/limits/token-bucket.ts';
import type { Admission, CallBeginning, CallEnd } from '../../../src/audit/calls/call-schema.ts';

const CALLER = { principalId: 'p', tokenId: 't' };
const SERVER = { id: 'id-a', name: 'a', status: 'CONNECTED' } as const;
const LIMITS = {
  principal: { perMinute: 60, burst: 10 },
  server: { perMinute: 6, burst: 2 },
};
const FACTS: CallFacts = { action: 'tool.call', subject: 'a.echo', detail: { era: 'modern' } };
const END: CallEnd = { id: 'n', outcome: 'done', code: null, detail: {} };

function createWorld(more: Partial<CallLedgerPorts> = {}, admission: Admission = {}, failures = 0) {
  const begun: CallBeginning[] = [];
  /** The limits of calls that took tokens without a log. */
  const taken: (readonly NamedLimit[])[] = [];
  const ended: string[] = [];
  const renewed: string[] = [];
  const waited: number[] = [];
  const digested: string[] = [];
  let left = failures;
  const shard = {
    async begin(beginning: CallBeginning) {
      if ((left -= 1) >= 0) throw new Error('lost');
      begun.push(beginning);
      return admission;
    },
    async end(ends: readonly CallEnd[]) {
      ended.push(...ends.map(({ id }) => id));
    },
    async renew(id: string) {
      if ((left -= 1) >= 0) throw new Error('lost');
      renewed.push(id);
    },
    settle: async () => {},
  };
  const asked: string[] = [];
  const shardOf = (principalId: string) => {
    asked.push(principalId);
    return shard;
  };
  const ends = new CallEnds({ shardOf, wait: () => new Promise(() => {}), now: () => 1 });
  const wait = async (ms: number) => void waited.push(ms);
  const ledger = new CallLedger({
    log: createBeforeLog({ shardOf, ends, wait }),
    tokens: {
      async take(_principalId, limits) {
        taken.push(limits);
        return limits.length === 0 ? undefined : admission.retryAfterMs;
      },
    },
    budgets: { take: async () => {}, refund: () => {} },
    keys: {
      digest: async (purpose, text) => {
        digested.push(`${purpose} ${text}`);
        return 'k1.digest';
      },
    },
    isRecording: true,
    limits: {},
    ...more,
  });
  const fail = (times: number) => void (left = times);
  return { ledger, begun, taken, ended, renewed, waited, digested, asked, ends, fail };
}
const begin = (
  { ledger }: { ledger: CallLedger },
  facts: Partial<CallFacts> = {},
  server: typeof SERVER | undefined = SERVER,
  refused?: Omit<CallEnd, 'id'>,
  waitUntil: (work: Promise<unknown>) => void = () => {},
) => {
  const call = { id: 'n', caller: CALLER, at: 7, facts: { ...FACTS, ...facts }, server };
  return ledger.begin(refused ? { ...call, refused } : call, waitUntil);
};
const NAMED = { id: 'n', caller: CALLER, at: 7, facts: FACTS };

describe('a call that begins', () => {
  it('[SEC-6] is recorded with its server and the digest of its arguments', async () => {
    const world = createWorld();
    await begin(world, { arguments: '{"city":"Graz","password":"hunter2"}' });
    expect(world.asked).toEqual(['p']);
    const [{ call, ...rest } = {}] = world.begun;
    expect(rest).toStrictEqual({ principalId: 'p', limits: [], ended: [] });
    expect({ ...call, detail: JSON.parse(call?.detail ?? '') as unknown }).toEqual({
      id: 'n',
      at: 7,
      tokenId: 't',
      action: 'tool.call',
      subject: 'a.echo',
      detail: {
        era: 'modern',
        server: 'id-a',
        arguments: { city: 'Graz', password: '[redacted]' },
        argument_chars: 36,
        arguments_digest: 'k1.digest',
      },
    });
    expect(world.digested).toEqual(['audit {"city":"Graz","password":"hunter2"}']);
  });

  it.each([
    [4_096, []],
    [4_097, ['audit {"a":1}']],
  ])(
    '[SEC-6] of %i characters waits with its row unread: %j is read',
    async (requestChars, read) => {
      const asked: PendingCall[] = [];
      const log: CallLog = {
        begin: async call => ({ open: { end: () => void asked.push(call) } }),
      };
      const world = createWorld({ log });
      const open = await begin(world, { arguments: '{"a":1}', requestChars });
      open?.end(END, false);
      expect(world.digested).toEqual(read);
      // Once the row was made, it is kept.
      const rows = [await asked[0]?.started(), await asked[0]?.started()];
      expect(rows.map(row => row?.id)).toEqual(['n', 'n']);
      expect(world.digested).toEqual(['audit {"a":1}']);
    },
  );

  it('[SEC-6] is recorded without absent fields', async () => {
    const world = createWorld();
    await world.ledger.begin(NAMED, () => {});
    expect(JSON.parse(world.begun[0]?.call?.detail ?? '')).toEqual({ era: 'modern' });
    expect(world.digested).toEqual([]);
  });

  it('[SEC-6] [SEC-2] is recorded under a bounded name without secrets', async () => {
    const world = createWorld();
    await begin(world, { subject: `a.${'x'.repeat(300)}` });
    await begin(world, { subject: `a.portico_${'A'.repeat(43)}` });
    const subjects = world.begun.map(({ call }) => call?.subject);
    expect(subjects).toEqual([`a.${'x'.repeat(198)}[cut]`, 'a.[redacted]']);
  });

  it('[SEC-6] that is refused for another reason reports that at once', async () => {
    const world = createWorld();
    const refused = { outcome: 'denied', code: 'tool_not_found', detail: {} } as const;
    await begin(world, {}, SERVER, refused);
    expect(world.begun[0]?.refused).toEqual(refused);
  });

  it('[SEC-6] takes ended calls of its principal along', async () => {
    const world = createWorld();
    world.ends.giveBack('p', [END]);
    await begin(world);
    expect(world.begun[0]?.ended).toEqual([END]);
  });

  it('[ACC-6] is limited by its principal and at its server', async () => {
    const own = { name: '', ...LIMITS.principal };
    const there = { name: 'id-a', ...LIMITS.server };
    const both = createWorld({ limits: LIMITS });
    await begin(both);
    await both.ledger.begin(NAMED, () => {});
    expect(both.begun.map(({ limits }) => limits)).toEqual([[own, there], [own]]);
    const ofServers = createWorld({ limits: { server: LIMITS.server } });
    await begin(ofServers);
    await ofServers.ledger.begin(NAMED, () => {});
    expect(ofServers.begun.map(({ limits }) => limits)).toEqual([[there], []]);
    const ofPrincipals = createWorld({ limits: { principal: LIMITS.principal } });
    await begin(ofPrincipals);
    expect(ofPrincipals.begun.map(({ limits }) => limits)).toEqual([[own]]);
  });

  it('[ACC-6] [SEC-6] sends no message without recording or limits, and records nothing with limits only', async () => {
    const none = createWorld({ isRecording: false });
    await begin(none);
    await none.ledger.spend(CALLER);
    expect([none.begun, none.asked, none.taken]).toEqual([[], [], [[], []]]);
    const limited = createWorld({ isRecording: false, limits: LIMITS });
    await begin(limited, { arguments: '{}' });
    const own = { name: '', ...LIMITS.principal };
    expect([limited.begun, limited.taken]).toEqual([
      [],
      [[own, { name: 'id-a', ...LIMITS.server }]],
    ]);
    expect(limited.digested).toEqual([]);
  });

  it.each([
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [59_999, 60],
  ])('[ACC-6] that exceeds its limit after %i ms must wait %i s', async (retryAfterMs, seconds) => {
    const world = createWorld({ limits: LIMITS }, { retryAfterMs });
    const extras = { retryAfterSeconds: seconds, data: { retryAfter: seconds, server: SERVER } };
    await expect(begin(world)).rejects.toMatchObject({ code: 'rate_limited', extras });
    await expect(world.ledger.spend(CALLER)).rejects.toMatchObject({ code: 'rate_limited' });
    const own = await world.ledger.begin(NAMED, () => {}).catch((error: unknown) => error);
    expect((own as { extras: { data: object } }).extras.data).toStrictEqual({
      retryAfter: seconds,
    });
  });

  it('[SEC-6] retries an object that does not answer at growing intervals, and then gives up', async () => {
    const lucky = createWorld({}, {}, 3);
    await begin(lucky);
    expect(lucky.waited).toEqual([20, 100, 400]);
    const unlucky = createWorld({}, {}, 100);
    await expect(begin(unlucky)).rejects.toMatchObject({ code: 'busy' });
    expect(unlucky.waited).toEqual([20, 100, 400, 0]);
  });
});

describe('a call that is only counted', () => {
  it('[ACC-6] takes a token of the principal only', async () => {
    const world = createWorld({ limits: LIMITS });
    await world.ledger.spend(CALLER);
    expect(world.taken).toStrictEqual([[{ name: '', ...LIMITS.principal }]]);
    expect(world.begun).toEqual([]);
  });
});

describe('a call that continues or ends', () => {
  it('[SEC-6] reports its end soon, or at once if no later work is possible', async () => {
    const world = createWorld();
    const work: Promise<unknown>[] = [];
    const open = await begin(world, {}, SERVER, undefined, each => void work.push(each));
    open?.end(END, false);
    expect(world.ended).toEqual([]);
    open?.end({ ...END, id: 'last' }, true);
    expect(world.ended).toEqual(['last']);
    expect(work).toHaveLength(2);
    await work[1];
  });

  it('[SEC-6] renews its lease, and a lost renewal has no effect', async () => {
    const world = createWorld({}, {}, 0);
    const open = await begin(world);
    world.fail(1);
    await open?.renew?.();
    expect(world.renewed).toEqual([]);
    await open?.renew?.();
    expect(world.renewed).toEqual(['n']);
  });
});

it('[SEC-6] is recorded if calls are recorded, or limited in any way', () => {
  const isNeeded = (more: Partial<CallLedgerPorts>) => {
    const { ledger } = createWorld(more);
    return [ledger.isNeeded, ledger.isRecording];
  };
  expect(isNeeded({})).toEqual([true, true]);
  expect(isNeeded({ isRecording: false })).toEqual([false, false]);
  const { principal, server } = LIMITS;
  expect(isNeeded({ isRecording: false, limits: { principal } })).toEqual([true, false]);
  expect(isNeeded({ isRecording: false, limits: { server } })).toEqual([true, false]);
  expect(isNeeded({ limits: LIMITS })).toEqual([true, true]);
});

it('[SEC-6] a decision about the caller is a denial, anything else a failure', () => {
  expect(outcomeOfCode('tool_not_found')).toBe('denied');
  expect(outcomeOfCode('rate_limited')).toBe('denied');
  expect(outcomeOfCode('server_disconnected')).toBe('failed');
});
