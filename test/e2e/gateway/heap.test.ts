/**
 * More bytes at once than the memory holds: request bodies, responses, and clients that do not read them. The gateway survives, a refused
 * client is told so, and other clients notice nothing.
 */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { watchedBy } from '../support/bystander.ts';
import { startGateway, QUIET, type Gateway } from '../support/gateway.ts';
import type { Burst, Told } from '../support/greedy-thread.ts';

const MIB = 1_048_576;
/** The limits of an isolate at the edge. */
const SETTINGS = {
  PORTICO_BYTES_IN_FLIGHT: String(64 * MIB),
  PORTICO_MAX_ANSWER_BYTES: String(8 * MIB),
  PORTICO_ROOM_WAIT_MS: '4000',
  PORTICO_STALLED_READER_MS: '4000',
};
/** The duration of a bystander's call, in milliseconds, on an idle machine. */
const SOON_MS = 1_000;

let gateway: Gateway;
let upstream: Upstream;
let greedy: Worker;
let greedyToken: string;
let bystander: string;
/** The same on this machine: if a call alone takes long, the limit grows. */
let soonMs: number;

/** Makes a burst of calls as the greedy principal; returns how each ended. */
async function all(wanted: Omit<Burst, 'gateway' | 'token'>): Promise<Told[]> {
  greedy.postMessage({ gateway: gateway.origin, token: greedyToken, ...wanted }, []);
  const [told] = (await once(greedy, 'message')) as [Told[] | string];
  if (typeof told === 'string') throw new Error(told);
  return told;
}

const watched = (work: () => Promise<unknown>) => watchedBy(bystander, gateway, work);

/** Waits until everything is released: the greedy principal may use as much as before. */
async function expectRoom(): Promise<void> {
  await until('there is room again', 60_000, async () => {
    const told = await all({ tool: 'large', calls: 4, mib: 7 });
    return told.every(({ length }) => length > 7 * MIB) ? true : undefined;
  });
}

beforeAll(async () => {
  greedy = new Worker(new URL('../support/greedy-thread.ts', import.meta.url));
  const [url] = (await once(greedy, 'message')) as [string];
  upstream = await startFixture('rich-legacy');
  gateway = await startGateway({ env: { ...QUIET, ...SETTINGS } });
  await gateway.register('greedy', url);
  await gateway.register('fine', `${upstream.origin}/mcp`);
  const scopes = ['tools:read', 'tools:call'];
  greedyToken = (await gateway.createToken({ name: 'greedy', scopes })).token;
  bystander = (await gateway.createToken({ name: 'bystander', scopes })).token;
  const alone = await watched(() => new Promise(resolve => setTimeout(resolve, 1_000)));
  soonMs = SOON_MS + 20 * alone;
});

afterAll(async () => {
  await gateway.stop();
  await greedy.terminate();
  await upstream.stop();
});

describe('[SEC-9] more bytes at once than the memory holds', () => {
  it('200 bodies of 4 MB: beyond the limit they are refused before they are read', async () => {
    let told: Told[] = [];
    // The accepted ones wait at the server, and hold their bodies.
    const longest = await watched(async () => {
      told = await all({ tool: 'wait', calls: 200, fill: 'text', endFirst: 190 });
    });
    const refused = told.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(190);
    expect(refused.length).toBeLessThan(200);
    for (const one of refused)
      expect(one).toMatchObject({ status: 503, why: 5039, retryAfter: '1' });
    expect(longest).toBeLessThan(soonMs);
    await expectRoom();
  });

  it('bodies that are small as text but large once parsed are refused before parsing', async () => {
    let told: Told[] = [];
    const longest = await watched(async () => {
      told = await all({ tool: 'large', calls: 20, fill: 'objects' });
    });
    for (const { status } of told) expect([413, 503]).toContain(status);
    expect(longest).toBeLessThan(soonMs);
    await expectRoom();
  });

  it('200 calls with a response of 30 MB: none is read beyond its limit, each is told why', async () => {
    let told: Told[] = [];
    const longest = await watched(async () => {
      told = await all({ tool: 'large', calls: 200, mib: 30 });
    });
    const whys = new Set(told.map(({ why }) => why));
    expect(whys).toContain('upstream_too_large');
    for (const why of whys) expect(['upstream_too_large', 'upstream_no_room']).toContain(why);
    expect(longest).toBeLessThan(soonMs);
    await expectRoom();
  });

  it('100 clients that do not read are disconnected, and their bytes are released', async () => {
    const params = '{"name":"greedy.large","arguments":{"mib":7}}';
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    const head = [
      'POST /mcp HTTP/1.1',
      `host: 127.0.0.1:${gateway.port}`,
      `authorization: Bearer ${greedyToken}`,
      'content-type: application/json',
      'accept: application/json',
      `content-length: ${body.length}`,
    ];
    const sockets: Socket[] = [];
    const longest = await watched(async () => {
      for (let reader = 0; reader < 100; reader += 1) {
        const socket = createConnection(gateway.port, '127.0.0.1').pause();
        socket.on('error', () => {});
        socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
        sockets.push(socket);
      }
      // They use up their principal's limit: its other calls wait for room, and are told that there is none.
      await until('no room for the same principal', 60_000, async () => {
        const told = await all({ tool: 'large', calls: 1, mib: 7 });
        return told.some(({ why }) => why === 'upstream_no_room') ? true : undefined;
      });
      await expectRoom();
    });
    expect(longest).toBeLessThan(soonMs);
    for (const socket of sockets) socket.destroy();
  });
});
