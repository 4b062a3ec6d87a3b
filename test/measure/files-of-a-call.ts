/**
 * Records which files of `src` run for one call of a modern client to a modern server, in an isolate that has served the same call before.
 * Counts only until the response; what is reported to objects afterwards is left out.
 */
import { expect, it } from 'vitest';
import { WHOLE } from '../worker/support/portico.ts';
import { call, connect, portico } from '../worker/support/live-calls.ts';

/** Returns how often functions of each file began so far (`count-functions.ts`). */
const ranSoFar = () =>
  new Map(Object.entries((globalThis as unknown as { RAN: Record<string, number> }).RAN));

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
