/**
 * Random interleavings of calls, server requests, answers, foreign answers, cancellations and lost memory, compared with the model of
 * `session-model.ts`: each call has exactly one outcome, and no answer reaches another client or another call. All clients use the same
 * JSON-RPC ids. A failure names its seed; PORTICO_TEST_SEED replays that one interleaving and starts a run of PORTICO_TEST_INTERLEAVINGS of
 * them; by default a share of a thousand is run (`../../unit/seeded.ts`).
 */
import { expect, it } from 'vitest';
import { createRandom, drawn, SEED } from '../../unit/seeded.ts';
import { connectServers, Interleaving, portico, strayAnswers } from '../support/interleaving.ts';
import { openPeople, type People } from '../support/interleaving-clients.ts';
import type { Step } from '../support/session-model.ts';

const { PORTICO_TEST_SEED: replayed, PORTICO_TEST_INTERLEAVINGS: wanted } = process.env;
const count = Number(wanted ?? (replayed === undefined ? drawn(1_000) : 1));
/** Concurrent interleavings, each with clients of its own, at the same servers. */
const LANES = 5;
const BATCHES = 5;

/** Runs the interleaving of a seed. */
async function run(seed: number, people: People): Promise<void> {
  const random = createRandom(seed);
  const interleaving = new Interleaving(seed, people);
  const taken: Step[][] = [];
  try {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const steps = interleaving.model.draw(random);
      taken.push(steps);
      await interleaving.take(steps);
    }
    for (;;) {
      const step = interleaving.model.finish();
      if (!step) break;
      taken.push([step]);
      await interleaving.take([step]);
    }
    await interleaving.conclude();
  } catch (cause) {
    const script = taken.map(steps => JSON.stringify(steps)).join('\n');
    throw new Error(`PORTICO_TEST_SEED=${seed} replays:\n${script}\n${String(cause)}`, { cause });
  }
}

it(`[MCP-4] [MCP-5] [MCP-10] [UP-2] [UP-3] ${count} interleavings from seed ${SEED}`, async () => {
  await connectServers();
  const seeds = Array.from({ length: count }, (_, i) => SEED + i);
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const people = await openPeople(portico);
      for (const seed of seeds.filter((_seed, i) => i % LANES === lane)) {
        await run(seed, people);
      }
    }),
  );
  expect(strayAnswers()).toEqual([]);
}, 600_000);
