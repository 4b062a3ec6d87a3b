/**
 * Ends an object in the middle of its work, as when its machine stops: memory and open connections are lost, storage stays. An eviction
 * would first wait until nothing is running.
 */
import { runInDurableObject } from 'cloudflare:test';
import type { ClientSession } from '../../../src/objects/client-session-object.ts';

export async function loseMemory(object: DurableObjectStub<ClientSession>): Promise<void> {
  await runInDurableObject(object, (_instance, state) => state.abort('Instance disposed')).catch(
    () => undefined,
  );
}
