/** Limits over many isolates: exact under concurrency, no isolate starved by tokens that another holds, and few messages. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refill, type Bucket, type NamedLimit } from '../../../src/audit/limits/token-bucket.ts';
import { drawLease, HOLD_MS } from '../../../src/audit/limits/token-lease.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';
import { createLeasedWorld, START, type Fate, type Isolate } from './leased-world.ts';

afterEach(() => void vi.restoreAllMocks());

const limitOf = (perMinute: number, burst = perMinute, name = ''): NamedLimit => ({
  name,
  perMinute,
  burst,
});
type World = ReturnType<typeof createLeasedWorld>;
const isolatesOf = (world: World, count: number) =>
  Array.from({ length: count }, () => world.createIsolate());

/** Makes this many calls of an isolate at once. @returns their outcomes, once all have one */
async function atOnce(world: World, isolate: Isolate, limits: readonly NamedLimit[], n: number) {
  const calls = Array.from({ length: n }, () => world.call(isolate, limits));
  await world.pass(1_000);
  const came = await Promise.all(calls);
  return { passed: came.filter(each => each === undefined).length, came };
}

/** Replays calls against one bucket without leases. @returns how many it would have refused */
function beyond(passes: World['passes'], limit: NamedLimit): number {
  let bucket: Bucket | undefined;
  let refused = 0;
  for (const { at } of passes.filter(({ name }) => name === limit.name)) {
    const held = [refill(bucket, limit, at)];
    const { buckets, lease } = drawLease(held, { limits: [limit], waiting: 1, ahead: 0 }, at);
    if (lease.passed === 0) refused += 1;
    bucket = buckets[0];
  }
  return refused;
}

describe('a limit over isolates', () => {
  it.each([
    [1, [1_000]],
    [2, [3, 997]],
    [8, [1, 1, 1, 1, 1, 1, 1, 993]],
    [8, [125, 125, 125, 125, 125, 125, 125, 125]],
  ])(
    '[ACC-6] of 100 lets exactly 100 of 1,000 calls at once pass in %i isolates: %j',
    async (_, shares) => {
      const world = createLeasedWorld();
      const limits = [limitOf(100)];
      const calls = shares.flatMap(n => {
        const isolate = world.createIsolate();
        return Array.from({ length: n }, () => world.call(isolate, limits));
      });
      await world.pass(1_000);
      const came = await Promise.all(calls);
      expect(came.filter(each => each === undefined)).toHaveLength(100);
      expect(world.passes).toHaveLength(100);
    },
  );

  it('[ACC-6] of 10 is not used up by the busiest isolate, and can be used in full', async () => {
    const world = createLeasedWorld();
    const [busy, other] = isolatesOf(world, 2) as [Isolate, Isolate];
    const limits = [limitOf(10)];
    for (let n = 0; n < 5; n += 1) {
      expect((await atOnce(world, busy, limits, 1)).passed).toBe(1);
    }
    expect((await atOnce(world, other, limits, 9)).passed).toBe(5);
  });

  it('[ACC-6] reports the time until its next step', async () => {
    const world = createLeasedWorld();
    const [isolate] = isolatesOf(world, 1) as [Isolate];
    const limits = [limitOf(2)];
    await atOnce(world, isolate, limits, 2);
    const { came } = await atOnce(world, isolate, limits, 1);
    // The step began when the first token was drawn, and this call came a second later.
    expect(came).toEqual([59_000]);
    await world.pass(58_000);
    expect((await atOnce(world, isolate, limits, 3)).passed).toBe(2);
  });

  it('[ACC-6] takes a token of each bucket or of none', async () => {
    const world = createLeasedWorld();
    const [isolate] = isolatesOf(world, 1) as [Isolate];
    const own = limitOf(5);
    const at = (name: string) => [own, limitOf(3, 3, name)];
    expect((await atOnce(world, isolate, at('a'), 4)).passed).toBe(3);
    expect((await atOnce(world, isolate, at('b'), 4)).passed).toBe(2);
    expect((await atOnce(world, isolate, [own], 1)).passed).toBe(0);
  });

  it(`[ACC-6] [EDGE-3] is exact in 100 runs over 8 isolates that die, with messages that are lost (seed ${SEED})`, async () => {
    let calls = 0;
    let killed = 0;
    /** Tokens leased for later calls, and runs at whose end nothing was lost. */
    let ahead = 0;
    let whole = 0;
    for (let run = 0; run < 100; run += 1) {
      const came = await runOnce(createRandom(SEED + run), run);
      calls += came.calls;
      killed += came.killed;
      ahead += came.ahead;
      whole += came.whole;
      vi.restoreAllMocks();
    }
    // The runs covered enough.
    const seen = {
      calls: calls > 10_000,
      killed: killed > 50,
      ahead: ahead > 1_000,
      whole: whole > 20,
    };
    expect(seen).toEqual({ calls: true, killed: true, ahead: true, whole: true });
  }, 120_000);
});

/** One run: eight isolates, each with its own pace; some die, and messages are lost. */
async function runOnce(random: Random, run: number) {
  const hasFaults = run % 2 === 1;
  let isCalm = !hasFaults;
  const fateOf = (): Fate => {
    if (isCalm || random.chance(0.9)) return 'done';
    return random.pick(['lost', 'unheard']);
  };
  const world = createLeasedWorld({ tripMs: () => 1 + random.below(60), fateOf });
  const own = random.pick([limitOf(60), limitOf(100), limitOf(600), limitOf(6_000, 50)]);
  const servers = ['', 'a', 'b'].map(name => limitOf(own.perMinute / 2, own.burst / 2, name));
  const limitsOf = () => {
    const server = random.pick(servers);
    return server.name === '' ? [own] : [own, server];
  };
  const isolates = isolatesOf(world, 8);
  let killed = 0;
  let calls = 0;
  const refusals: number[] = [];
  for (let step = 0; step < 45; step += 1) {
    for (let n = random.pick([0, 1, 2, 5, 20]); n > 0; n -= 1) {
      calls += 1;
      void world
        .call(random.pick(isolates), limitsOf())
        .then(after => after !== undefined && refusals.push(after))
        .catch(() => {});
      if (random.chance(0.3)) await world.pass(random.below(200));
    }
    await world.pass(random.below(1_500));
    if (hasFaults && random.chance(0.05)) {
      const at = random.below(isolates.length);
      world.kill(isolates[at] as Isolate);
      isolates[at] = world.createIsolate();
      killed += 1;
    }
    if (hasFaults && random.chance(0.02)) world.evict();
  }
  // The bucket of a limit gives no more than if every call had drawn from it directly.
  for (const limit of [own, ...servers.slice(1)]) {
    expect([run, limit.name, beyond(world.passes, limit)]).toEqual([run, limit.name, 0]);
  }
  expect(refusals.every(after => after > 0 && after <= 60_000)).toBe(true);
  // Another isolate gets the tokens of idle isolates a moment later, and those of dead ones at the next step.
  isCalm = true;
  await world.pass(HOLD_MS + 3_000);
  const stepMs = Math.min(60_000, (60_000 * own.burst) / own.perMinute);
  const since = world.buckets.get('')?.countedTo ?? START;
  const last = world.createIsolate();
  let whole = 0;
  let wrong = { over: false, missing: false };
  if (world.now() + 1_000 < since + stepMs) {
    await atOnce(world, last, [own], own.burst + 10);
    const passed = world.passes.filter(({ at, name }) => name === '' && at >= since).length;
    const lost = world.lostSince(since);
    wrong = { over: passed > own.burst, missing: passed < own.burst - lost };
    whole += Number(lost === 0);
  }
  expect([run, wrong]).toEqual([run, { over: false, missing: false }]);
  await world.pass(stepMs + 1_000);
  const { passed } = await atOnce(world, last, [own], own.burst + 10);
  // A fast bucket refills more while they wait.
  expect(passed).toBeGreaterThanOrEqual(own.burst);
  const ahead = world.drawn.reduce((sum, { lease }) => sum + lease.spare, 0);
  return { calls, killed, ahead, whole };
}

describe('the tokens of an isolate', () => {
  const limits = [limitOf(10_000)];

  it('[ACC-6] [EDGE-1] let a caller at a steady pace send most calls without a message', async () => {
    const world = createLeasedWorld();
    const [isolate] = isolatesOf(world, 1) as [Isolate];
    const pace = async (count: number, everyMs: number) => {
      let waited = 0;
      for (let n = 0; n < count; n += 1) {
        const before = world.now();
        void world.call(isolate, limits).then(() => (waited += Number(world.now() > before)));
        await world.pass(everyMs);
      }
      await world.pass(100);
      return { asked: world.asked.splice(0).length, waited };
    };
    // Until its pace is known, some calls wait.
    expect(await pace(40, 250)).toEqual({ asked: 9, waited: 5 });
    expect(await pace(160, 250)).toEqual({ asked: 12, waited: 0 });
    // Twenty times as fast: for a moment the calls of one round trip wait together.
    expect(await pace(1_000, 2)).toEqual({ asked: 10, waited: 150 });
    expect(await pace(3_000, 2)).toEqual({ asked: 5, waited: 0 });
    // A step ends in between, and with it the lease.
    expect(await pace(4_000, 2)).toEqual({ asked: 5, waited: 25 });
  });

  it('[ACC-6] are returned when its caller rests, and only once if the message is repeated', async () => {
    const fates: Fate[] = [];
    const world = createLeasedWorld({ fateOf: () => fates.shift() ?? 'done' });
    const [busy, other] = isolatesOf(world, 2) as [Isolate, Isolate];
    const hundred = [limitOf(100)];
    for (let n = 0; n < 20; n += 1) {
      void world.call(busy, hundred);
      await world.pass(100);
    }
    expect(world.passes).toHaveLength(20);
    const held = 80 - (world.buckets.get('')?.tokens ?? 0);
    expect(held).toBeGreaterThan(0);
    fates.push('unheard', 'lost');
    await world.pass(HOLD_MS + 2_000);
    expect(world.buckets.get('')?.tokens).toBe(80);
    expect(world.returned.length).toBeGreaterThan(1);
    expect((await atOnce(world, other, hundred, 100)).passed).toBe(80);
  });

  it('[ACC-6] are drawn once for a request whose answer was lost', async () => {
    const fates: Fate[] = ['unheard', 'lost', 'unheard', 'done'];
    const world = createLeasedWorld({ fateOf: () => fates.shift() ?? 'done' });
    const [isolate] = isolatesOf(world, 1) as [Isolate];
    expect((await atOnce(world, isolate, [limitOf(10)], 3)).passed).toBe(3);
    expect(world.buckets.get('')?.tokens).toBe(7);
  });

  it('[ACC-6] are unknown if the object never answers: then no call is sent', async () => {
    const world = createLeasedWorld({ fateOf: () => 'lost' });
    const [isolate] = isolatesOf(world, 1) as [Isolate];
    const call = world.call(isolate, limits);
    void world.pass(2_000);
    await expect(call).rejects.toMatchObject({ code: 'busy' });
  });

  it('[ACC-6] are requested again by another call if the requester was cut off', async () => {
    const fates: Fate[] = ['never'];
    const world = createLeasedWorld({ fateOf: () => fates.shift() ?? 'done' });
    const [isolate] = isolatesOf(world, 1) as [Isolate];
    void world.call(isolate, limits);
    await world.pass(1_000);
    const call = world.call(isolate, limits);
    await world.pass(1_500);
    expect(await call).toBeUndefined();
    expect(world.asked.map(({ id }) => id)).toEqual([
      world.asked[0]?.id,
      world.asked[0]?.id,
      expect.not.stringMatching(world.asked[0]?.id ?? ''),
    ]);
    expect(world.buckets.get('')?.tokens).toBe(9_998);
  });

  it('[ACC-6] are none from a full bucket that nobody uses, and expire with the step', async () => {
    const now = START;
    const ahead = { limits, waiting: 0, ahead: 50 };
    expect(drawLease([undefined], ahead, now).lease).toMatchObject({ passed: 0, spare: 0 });
    const held = [{ tokens: 800, countedTo: now - 59_000 }];
    expect(drawLease(held, ahead, now).lease).toEqual({ passed: 0, spare: 50, lastsMs: 1_000 });
    // An eighth of a few tokens, none of fewer.
    expect(drawLease([{ tokens: 80, countedTo: now }], ahead, now).lease.spare).toBe(10);
    expect(drawLease([{ tokens: 7, countedTo: now }], ahead, now).lease.spare).toBe(0);
  });
});
