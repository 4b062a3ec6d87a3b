/**
 * Hundreds of streams of one principal: opened at once, held open, notified of a change, closed. Their work is done bit by bit, so that the
 * calls of other principals run in between.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { watchedBy } from '../support/bystander.ts';
import { startGateway, QUIET, type Gateway } from '../support/gateway.ts';
import { headersFor, open } from '../support/raw-client.ts';

const STREAMS = 200;
const SETTINGS = { PORTICO_PRINCIPAL_STREAMS: '400', PORTICO_KEEP_ALIVE_MS: '3000' };
/** The longest time of another principal's call, in milliseconds, on an idle machine. */
const SOON_MS = 1_000;

let gateway: Gateway;
let upstream: Upstream;
let otherId: string;
let crowd: string;
let bystander: string;
let soonMs: number;

/** A GET stream and the text received on it so far. */
interface Stream {
  text: string;
  close(): Promise<void>;
}
const streams: Stream[] = [];

async function openStream(sessionId: string): Promise<void> {
  const headers = headersFor(
    { url: `${gateway.origin}/mcp`, token: crowd },
    { accept: 'text/event-stream', 'content-type': null, 'mcp-session-id': sessionId },
  );
  const response = await fetch(`${gateway.origin}/mcp`, { headers });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const stream: Stream = { text: '', close: async () => reader?.cancel() };
  streams.push(stream);
  const read = async () => {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return;
      stream.text += value;
    }
  };
  void read().catch(() => {});
  await until('the stream is open', 60_000, async () =>
    stream.text.includes('id: ') ? true : undefined,
  );
}

const watched = (work: () => Promise<unknown>) => watchedBy(bystander, gateway, work);

const counts = (pattern: RegExp) => streams.map(({ text }) => text.match(pattern)?.length ?? 0);

beforeAll(async () => {
  upstream = await startFixture('rich-legacy');
  gateway = await startGateway({ env: { ...QUIET, ...SETTINGS } });
  await gateway.register('fine', `${upstream.origin}/mcp`);
  otherId = (await gateway.register('other', `${upstream.origin}/mcp`)).id;
  const scopes = ['tools:read', 'tools:call'];
  crowd = (await gateway.createToken({ name: 'crowd', scopes })).token;
  bystander = (await gateway.createToken({ name: 'bystander', scopes })).token;
  const aWhile = () => new Promise(resolve => setTimeout(resolve, 1_000));
  await watched(aWhile);
  const alone = await watched(aWhile);
  soonMs = SOON_MS + 20 * alone;
});

afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

describe('[SEC-9] hundreds of streams of one principal', () => {
  it('do not delay calls of others when they are opened at once', async () => {
    const target = { url: `${gateway.origin}/mcp`, token: crowd };
    const sessions = await Promise.all(
      Array.from({ length: STREAMS }, async () => (await open('legacy', target)).sessionId ?? ''),
    );
    const longest = await watched(() => Promise.all(sessions.map(openStream)));
    expect(longest).toBeLessThan(soonMs);
  });

  it('do not delay calls of others while they are kept alive', async () => {
    const longest = await watched(() =>
      until('all were kept alive twice', 60_000, async () =>
        counts(/: keep-alive/gu).every(count => count >= 2) ? true : undefined,
      ),
    );
    expect(longest).toBeLessThan(soonMs);
  });

  it('do not delay calls of others when each is notified of a change, once', async () => {
    const told = /"method":"notifications\/tools\/list_changed"/gu;
    const before = counts(told);
    const longest = await watched(async () => {
      const path = `/api/v1/aggregator/servers/${otherId}`;
      expect((await gateway.api('PATCH', path, { name: 'another' })).status).toBe(200);
      await until('all were told', 60_000, async () =>
        counts(told).every((count, index) => count > (before[index] ?? 0)) ? true : undefined,
      );
    });
    expect(counts(told)).toEqual(before.map(count => count + 1));
    expect(longest).toBeLessThan(soonMs);
  });

  it('do not delay calls of others when they are closed at once', async () => {
    const longest = await watched(async () => {
      await Promise.all(streams.map(stream => stream.close()));
      await new Promise(resolve => setTimeout(resolve, 4_000));
    });
    expect(longest).toBeLessThan(soonMs);
  });
});
