/** Handshakes and lists, which belong to no call, also count among the bytes in flight. */
import { afterEach, expect, it, vi } from 'vitest';
import { BytesInFlight } from '../../../src/shared/limits/bytes-in-flight.ts';
import { MODERN_VERSION } from '../../../src/shared/protocol.ts';
import { createHttpChannel } from '../../../src/upstream/session/channel.ts';
import { createDeadline } from '../../../src/http/deadline.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

const MIB = 1_048_576;
const PROTOCOL = { era: 'modern', protocolVersion: MODERN_VERSION } as const;

/** Requests the tools of a server whose list has `size` bytes. */
function list(bytes: BytesInFlight, size: number) {
  const counted = { ...endpoint, openBytes: () => bytes.request('upstreams') };
  vi.spyOn(globalThis, 'fetch').mockImplementation((_input, init) => {
    const { id } = JSON.parse(String(init?.body)) as { id: unknown };
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: { tools: [], more: 'x'.repeat(size) },
    });
    return Promise.resolve(new Response(text, { headers: { 'content-type': 'application/json' } }));
  });
  const channel = createHttpChannel(counted, PROTOCOL, 4 * MIB);
  return channel.request('tools/list', new Map(), createDeadline(60_000));
}

const withLimits = (principalBytes: number) =>
  new BytesInFlight({ isolateBytes: 64 * MIB, principalBytes, waitMs: 30_000, stalledMs: 1_000 });

it('[SEC-9] lists that do not fit together are read one after the other, and all bytes are released', async () => {
  const bytes = withLimits(24 * MIB);
  let most = 0;
  const taken = vi.spyOn(bytes, 'request').mockImplementation(function request(principal) {
    taken.mockRestore();
    const opened = bytes.request(principal);
    const wait = opened.wait.bind(opened);
    opened.wait = (...args) => {
      const waiting = wait(...args);
      most = Math.max(most, bytes.used);
      return waiting;
    };
    return opened;
  });
  const answers = await Promise.all([
    list(bytes, 2 * MIB),
    list(bytes, 2 * MIB),
    list(bytes, 2 * MIB),
  ]);
  expect(answers).toHaveLength(3);
  expect(most).toBeGreaterThan(2 * MIB);
  expect([bytes.used, bytes.open]).toEqual([0, 0]);
});

it('[SEC-9] a list that never fits is refused, and its bytes are released', async () => {
  const bytes = withLimits(MIB);
  await expect(list(bytes, 4 * MIB)).rejects.toMatchObject({ code: 'upstream_too_large' });
  expect([bytes.used, bytes.open]).toEqual([0, 0]);
});
