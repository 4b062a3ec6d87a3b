/** A session's client subscribes to a resource that it has subscribed to. */
import { describe, expect, it } from 'vitest';
import { SessionStream } from '../../../src/sessions/session-stream.ts';
import { Streams } from '../../../src/sessions/streams.ts';
import type { WatchFailure } from '../../../src/shared/events.ts';

const OWNER = 'session:a';
const subscriptionTo = (uri: string) => ({ serverId: 's', uri, as: uri });

/** Storage in memory, in the order of its keys. */
function createStorage() {
  const stored = new Map<string, unknown>();
  return {
    get: async (key: string) => stored.get(key),
    put: async (key: string, value: unknown) => void stored.set(key, value),
    list: async ({ prefix }: { prefix: string }) =>
      new Map([...stored].filter(([key]) => key.startsWith(prefix)).toSorted()),
  };
}

it('[MCP-4] [MCP-12] is taken though it has as many subscriptions as it may have, and one more is not', async () => {
  const storage = createStorage();
  const stream = new SessionStream(storage as never, { maxEvents: 1, maxBytes: 1 }, 1);
  const subscribe = (n: number) => stream.subscribe(null, subscriptionTo(`note://${n}`));
  for (let n = 0; n < 1_000; n += 1) await subscribe(n);
  expect(await subscribe(7)).toEqual({ former: subscriptionTo('note://7') });
  expect(await subscribe(1_000)).toBeUndefined();
});

describe('[MCP-4] a subscription that its server', () => {
  const UNREACHABLE: WatchFailure = { code: 'upstream_unreachable', detail: 'gone' };
  const REFUSED: WatchFailure = { code: 'upstream_4xx', detail: 'no' };

  it.each([
    ['does not answer is not kept if it is new', 'new', UNREACHABLE, ['note://a']],
    ['does not answer stays if it is a repeat', 'held', UNREACHABLE, []],
    ['refuses is not kept, even if it is a repeat', 'held', REFUSED, ['note://a']],
    // An object of the previous version.
    ['does not answer is not kept if nobody says which it is', true, UNREACHABLE, ['note://a']],
  ] as const)('%s', async (_what, stored, failure, expected) => {
    const ended: string[] = [];
    const object = {
      subscribe: async () => stored,
      unsubscribe: async (_owner: string, { uri }: { uri: string }) => void ended.push(uri),
    };
    const monitor = { subscribe: async () => failure };
    const streams = new Streams(
      { getByName: () => object } as never,
      { getByName: () => monitor } as never,
      {} as never,
      1,
    );
    await expect(
      streams.subscribe(OWNER, null, subscriptionTo('note://a'), {}),
    ).rejects.toMatchObject({ code: failure.code });
    expect(ended).toEqual(expected);
  });
});
