/** A session's subscription ends where it was made, wherever the client's next one would be made. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { OpenStreams } from '../../../src/sessions/open-streams.ts';
import type { Subscription } from '../../../src/shared/events.ts';

it("[MCP-4] ends at the server's monitor, which made it because the server opened no session", async () => {
  const owner = 'session:where';
  const unwanted: Subscription[] = [];
  await runInDurableObject(env.CLIENT_SESSION.getByName(owner), async (_, ctx) => {
    const streams = new OpenStreams(ctx, {
      db: env.DB,
      limits: { maxEvents: 10, maxBytes: 1_000 },
      resumeMs: 60_000,
      onUnwanted: (_owner, resources) => Promise.resolve(unwanted.push(...resources)),
    });
    const subscription = { serverId: 's', uri: 'note://a', as: 's+note://a' };
    const inSession = { ...subscription, at: owner };
    await streams.subscribe(owner, null, subscription);
    await streams.unsubscribe(owner, inSession);
    expect(unwanted).toEqual([subscription]);
    await streams.subscribe(owner, null, inSession);
    await streams.unsubscribe(owner, subscription);
    expect(unwanted).toEqual([subscription, inSession]);
  });
});
