/** Random sequences of lifecycle changes, failures, evictions and restarts of upstreams: see `lifecycle-world.ts`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { drawn, SEED } from '../../unit/seeded.ts';
import { serve } from '../support/fake-server.ts';
import { LifecycleWorld, watchSteps } from '../support/lifecycle-world.ts';

const SEQUENCES = drawn(500);
const AT_ONCE = 20;
const STEPS = 8;

async function run(world: LifecycleWorld): Promise<void> {
  await world.begin();
  for (let step = 0; step < STEPS; step += 1) await world.step();
  await world.recover();
  await world.end();
}

describe(`${SEQUENCES} random sequences, seed ${SEED}`, () => {
  beforeAll(watchSteps);

  it.each(Array.from({ length: SEQUENCES / AT_ONCE }, (_, part) => part * AT_ONCE))(
    '[REG-3] [UP-5] keep every server in a legal state and leave nothing behind, from %i on',
    async first => {
      const worlds = Array.from(
        { length: AT_ONCE },
        (_, i) => new LifecycleWorld(SEED + first + i, `m${first + i}`),
      );
      serve(Object.assign({}, ...worlds.map(({ upstreams }) => upstreams)));
      const outcomes = await Promise.all(
        worlds.map((world, i) =>
          run(world).then(
            () => undefined,
            (error: unknown) => ({ sequence: first + i, error, after: world.history }),
          ),
        ),
      );
      expect(outcomes.filter(outcome => outcome !== undefined)).toEqual([]);
    },
    300_000,
  );
});
