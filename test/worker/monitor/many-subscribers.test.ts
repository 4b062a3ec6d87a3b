/** Very many subscriptions to the resources of one server. */
import { expect, it, vi } from 'vitest';
import { Subscribers } from '../../../src/monitor/subscribers.ts';

const MOST = 50_000;

/** Storage with these subscriptions. */
function createStorage(owners: number, uris: number) {
  const stored = new Map<string, unknown>();
  for (let owner = 0; owner < owners; owner += 1) {
    for (let uri = 0; uri < uris; uri += 1) {
      stored.set(`subscriber/${uri}/${owner}`, { uri: `note://${uri}`, owner: `session:${owner}` });
    }
  }
  return {
    list: vi.fn<() => Promise<typeof stored>>(async () => stored),
    put: vi.fn<() => Promise<void>>(async () => {}),
    delete: vi.fn<() => Promise<boolean>>(async () => true),
  };
}

const of = (storage: unknown) => new Subscribers(storage as DurableObjectStorage);

it('[SEC-9] [MCP-4] are bounded, whatever the number of objects', async () => {
  const storage = createStorage(500, MOST / 500);
  const subscribers = of(storage);
  expect(await subscribers.add('session:new', 'note://0')).toBeUndefined();
  expect(await subscribers.add('session:1', 'note://1')).toBe(false);
  expect(await subscribers.remove('session:0', 'note://0')).toBe(false);
  expect(await subscribers.add('session:new', 'note://0')).toBe(false);
  expect(storage.put).toHaveBeenCalledTimes(1);
});

it('[SEC-9] [MCP-4] are read once, not for each of them', async () => {
  const storage = createStorage(2, 10);
  const subscribers = of(storage);
  for (let n = 0; n < 50; n += 1)
    expect(await subscribers.add('session:0', `new://${n}`)).toBe(true);
  expect(await subscribers.uris()).toHaveLength(60);
  expect(await subscribers.of('note://3')).toEqual([
    { uri: 'note://3', owner: 'session:0' },
    { uri: 'note://3', owner: 'session:1' },
  ]);
  expect(await subscribers.remove('session:0', 'note://3')).toBe(false);
  expect(await subscribers.remove('session:1', 'note://3')).toBe(true);
  expect(await subscribers.remove('session:1', 'note://3')).toBe(false);
  expect(storage.list).toHaveBeenCalledTimes(1);
});

it('[SEC-9] [MCP-4] are bounded in the length of their URIs too, since a modern server gets and repeats all of them', async () => {
  const uriOf = (n: number) => `note://${n}/${'"'.repeat(4_000)}`;
  const storage = createStorage(1, 10);
  const subscribers = of(storage);
  let added = 0;
  while (await subscribers.add('session:0', uriOf(added))) added += 1;
  expect(JSON.stringify(await subscribers.uris()).length).toBeLessThan(2 ** 20 / 2);
  expect(added).toBe(62);
  // Another subscription to one of them needs no room, and the end of one makes room.
  expect(await subscribers.add('session:1', uriOf(0))).toBe(false);
  expect(await subscribers.add('session:1', uriOf(added))).toBeUndefined();
  expect(await subscribers.remove('session:0', uriOf(1))).toBe(true);
  expect(await subscribers.add('session:1', uriOf(added))).toBe(true);
  subscribers.forget();
  storage.list.mockResolvedValue(new Map());
  expect(await subscribers.add('session:0', uriOf(0))).toBe(true);
});
