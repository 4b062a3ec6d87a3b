/** Tools of asking servers that sent no server requests for so long that the Worker calls them itself. */
import { vi } from 'vitest';
import { ObjectCalls } from '../../../src/sessions/object-calls.ts';
import { callModern } from './asking-clients.ts';
import type { Portico } from './portico.ts';

/** The number of calls that must be quiet. */
const ENOUGH = 5;
/** The number of calls after that within which the Worker must use a session that it reads, if the server has a stream for each. */
const MOST_CALLS = 500;

/** Counts what objects do with calls, from now on until mocks are restored. */
export function watchObjects() {
  const begun = vi.spyOn(ObjectCalls.prototype, 'start');
  const taken = vi.spyOn(ObjectCalls.prototype, 'adopt');
  return {
    /** How often they began calls, and took them over. */
    counts: () => ({ begun: begun.mock.calls.length, taken: taken.mock.calls.length }),
    /** How many unfinished calls they hold. */
    waiting() {
      const objects = new Set([begun, taken].flatMap(({ mock }) => mock.contexts as ObjectCalls[]));
      return [...objects].reduce((sum, { size }) => sum + size, 0);
    },
  };
}

/** Calls a tool without server requests until the Worker makes the call itself. @throws Error if it never does */
export async function callUntilHere(portico: Portico, name: string): Promise<void> {
  const { counts } = watchObjects();
  for (let n = 0; n < ENOUGH + MOST_CALLS; n += 1) {
    const { begun } = counts();
    const { answer } = await callModern(portico, name, { mark: crypto.randomUUID(), rounds: 0 });
    if (answer.result?.isError) throw new Error(JSON.stringify(answer));
    if (counts().begun === begun) return;
  }
  throw new Error('The object makes every call');
}
