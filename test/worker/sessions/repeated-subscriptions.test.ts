/** A session's client subscribes to a resource that it has subscribed to. */
import { describe, expect, it } from 'vitest';
import { SessionStream } from '../../../src/sessions/session-stream.ts';
import type { Stored } from '../../../src/sessions/client-object.ts';
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
  expect(await subscribe(7)).toBe('held');
  expect(await subscribe(1_000)).toBe(false);
});

describe('[MCP-4] a subscription that its server', () => {
  const UNREACHABLE: WatchFailure = { code: 'upstream_unreachable', detail: 'gone' };
  const REFUSED: WatchFailure = { code: 'upstream_4xx', detail: 'no' };

  it.each([
    ['does not answer is not kept if it is new', 'new', UNREACHABLE, ['note://a']],
    ['does not answer stays if it is a repeat', 'held', UNREACHABLE, []],
    [
      'does not answer stays where it was if it is a repeat elsewhere',
      'elsewhere',
      UNREACHABLE,
      [],
    ],
    ['refuses is not kept, even if it is a repeat', 'held', REFUSED, ['note://a']],
    // An object of the previous version.
    ['does not answer is not kept if nobody says which it is', true, UNREACHABLE, ['note://a']],
  ] as const)('%s', async (_what, stored, failure, expected) => {
    const { subscribe, ended } = createStreams(stored, async () => failure);
    await expect(subscribe()).rejects.toMatchObject({ code: failure.code });
    expect(ended).toEqual(expected);
  });

  it('cannot be asked for, since its monitor fails, is not kept', async () => {
    const { subscribe, ended } = createStreams('new', () =>
      Promise.reject(new Error('overloaded')),
    );
    await expect(subscribe()).rejects.toMatchObject({ code: 'internal' });
    expect(ended).toEqual(['note://a']);
  });

  it('accepts elsewhere ends at its former place, and only then', async () => {
    const accepted = Promise.withResolvers<undefined>();
    const { subscribe, ended } = createStreams('elsewhere', () => accepted.promise);
    const subscribing = subscribe();
    await scheduler.wait(10);
    expect(ended).toEqual([]);
    accepted.resolve(undefined);
    await subscribing;
    expect(ended).toEqual(['note://a, moved']);
  });
});

/** The Worker's access to an object that stores a subscription as told, and to a monitor that answers so. */
function createStreams(
  stored: Stored | true,
  answer: () => Promise<WatchFailure | undefined>,
): { subscribe: () => Promise<void>; ended: string[] } {
  const ended: string[] = [];
  const object = {
    subscribe: async () => stored,
    unsubscribe: async (_owner: string, { uri }: { uri: string }, isMoved = false) =>
      void ended.push(isMoved ? `${uri}, moved` : uri),
  };
  const streams = new Streams(
    { getByName: () => object } as never,
    { getByName: () => ({ subscribe: answer }) } as never,
    {} as never,
    1,
  );
  const subscribe = () => streams.subscribe(OWNER, null, subscriptionTo('note://a'), {});
  return { subscribe, ended };
}
