/**
 * Records which files of `src` run for one call of a modern client to a modern server, in an isolate that has served the same call before.
 * Counts only until the response; what is reported to objects afterwards is left out.
 */
import { expect, it } from 'vitest';
import { WHOLE } from '../worker/support/portico.ts';
import { call, connect, portico } from '../worker/support/live-calls.ts';

/** Istanbul's counters: for each file, how often each statement ran. */
type Counters = Record<string, { path: string; s: Record<string, number> }>;

const { __VITEST_COVERAGE__: counters } = globalThis as unknown as {
  __VITEST_COVERAGE__: Counters;
};

/** Returns how many statements of each file have run so far. */
const ranSoFar = () =>
  new Map(
    Object.values(counters).map(({ path, s }) => [
      path.slice(path.lastIndexOf('/src/') + 1),
      Object.values(s).reduce((sum, times) => sum + times, 0),
    ]),
  );

it('records the files that run for one call', async () => {
  const { name } = await connect('modern');
  const { message, headers } = call(name, 'modern');
  const answer = async () => {
    const response = await portico.post(message, { headers: { ...WHOLE, ...headers } });
    expect(await response.text()).toContain('"resultType":"complete"');
  };
  await answer();
  await portico.settle();
  const before = ranSoFar();
  await answer();
  const ran = [...ranSoFar()].filter(([path, times]) => times > (before.get(path) ?? 0));
  console.log(`RAN ${JSON.stringify(ran.map(([path]) => path).toSorted())}`);
});
