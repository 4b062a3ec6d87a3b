/** A session's subscription ends where it was made, wherever the client's next one would be made. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { OpenStreams } from '../../../src/sessions/open-streams.ts';
import type { Subscription } from '../../../src/shared/events.ts';

/** Runs work on the streams of a session's object, which notes what it does not want any more. */
async function inObject(
  owner: string,
  work: (streams: OpenStreams, unwanted: Subscription[]) => Promise<void>,
): Promise<void> {
  const unwanted: Subscription[] = [];
  await runInDurableObject(env.CLIENT_SESSION.getByName(owner), async (_, ctx) => {
    const streams = new OpenStreams(ctx, {
      db: env.DB,
      limits: { maxEvents: 10, maxBytes: 1_000 },
      resumeMs: 60_000,
      onUnwanted: (_owner, resources) => Promise.resolve(unwanted.push(...resources)),
    });
    await work(streams, unwanted);
  });
}

const SUBSCRIPTION = { serverId: 's', uri: 'note://a', as: 's+note://a' };

it("[MCP-4] ends at the server's monitor, which made it because the server opened no session", async () => {
  const owner = 'session:where';
  await inObject(owner, async (streams, unwanted) => {
    const inSession = { ...SUBSCRIPTION, at: owner };
    await streams.subscribe(owner, null, SUBSCRIPTION);
    await streams.unsubscribe(owner, inSession);
    expect(unwanted).toEqual([SUBSCRIPTION]);
    await streams.subscribe(owner, null, inSession);
    await streams.unsubscribe(owner, SUBSCRIPTION);
    expect(unwanted).toEqual([SUBSCRIPTION, inSession]);
  });
});

it('[MCP-4] ends there only once the client has subscribed again and it was made elsewhere', async () => {
  const owner = 'session:moved';
  await inObject(owner, async (streams, unwanted) => {
    const inSession = { ...SUBSCRIPTION, at: owner };
    expect(await streams.subscribe(owner, null, SUBSCRIPTION)).toBe('new');
    expect(await streams.subscribe(owner, null, SUBSCRIPTION)).toBe('held');
    expect(await streams.subscribe(owner, null, inSession)).toBe('elsewhere');
    expect(await streams.subscribe(owner, null, SUBSCRIPTION)).toBe('held');
    expect(unwanted).toEqual([]);
    await streams.unsubscribe(owner, inSession, true);
    expect(unwanted).toEqual([SUBSCRIPTION]);
    expect(await streams.subscribe(owner, null, inSession)).toBe('held');
    await streams.unsubscribe(owner, inSession, true);
    expect(unwanted).toEqual([SUBSCRIPTION]);
  });
});

it('[MCP-4] ends elsewhere too if the client unsubscribed while it was made there', async () => {
  const owner = 'session:left';
  await inObject(owner, async (streams, unwanted) => {
    const inSession = { ...SUBSCRIPTION, at: owner };
    await streams.subscribe(owner, null, SUBSCRIPTION);
    await streams.subscribe(owner, null, inSession);
    await streams.unsubscribe(owner, inSession);
    await streams.unsubscribe(owner, inSession, true);
    expect(unwanted).toEqual([SUBSCRIPTION, inSession]);
    expect(await streams.subscribe(owner, null, SUBSCRIPTION)).toBe('new');
  });
});
