/** What a monitor remembers of the connection to its server, where it is dropped while it is being read. */
import { expect, it } from 'vitest';
import { StoredWatch } from '../../../src/monitor/watch-memory.ts';

it('[UP-1] [REG-3] a value that is dropped during its first read is not returned, then or later', async () => {
  const stored = { credentialKey: 'key', negotiatedAt: Date.now() };
  const { promise: reading, resolve } = Promise.withResolvers<unknown>();
  const storage = { get: () => reading, put: async () => {}, delete: async () => true };
  const memory = new StoredWatch(storage as never);
  const finding = memory.find('key');
  await memory.drop();
  resolve(stored);
  expect([await finding, await memory.find('key')]).toEqual([undefined, undefined]);
});
