/** Which call opens an upstream session when many need it at once. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UpstreamClaims } from '../../../src/upstream/session/session-lock.ts';

const LIMIT_MS = 15_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether a promise has settled by now. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await vi.advanceTimersByTimeAsync(0);
  return settled;
}

it('[UP-2] gives the claim to one call and lets the others wait', async () => {
  const claims = new UpstreamClaims(LIMIT_MS);
  const first = await claims.claim('a');
  expect(first).toBeDefined();
  const second = claims.claim('a');
  const third = claims.claim('a');
  expect(await hasSettled(second)).toBe(false);
  expect(claims.settle('a', first ?? '')).toBe(true);
  expect(await Promise.all([second, third])).toEqual([undefined, undefined]);
  expect(await claims.claim('a')).toBeDefined();
});

it('[UP-2] keeps servers separate', async () => {
  const claims = new UpstreamClaims(LIMIT_MS);
  expect(await claims.claim('a')).toBeDefined();
  expect(await claims.claim('b')).toBeDefined();
});

it('[MCP-12] passes on a claim that nobody settles', async () => {
  const claims = new UpstreamClaims(LIMIT_MS);
  const lost = await claims.claim('a');
  const waiting = claims.claim('a');
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  expect(await hasSettled(waiting)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toBeUndefined();
  expect(claims.holds('a', lost ?? '')).toBe(false);
  expect(claims.settle('a', lost ?? '')).toBe(false);
});

it('[UP-2] ignores expired and unknown claims', async () => {
  const claims = new UpstreamClaims(LIMIT_MS);
  const lost = await claims.claim('a');
  await vi.advanceTimersByTimeAsync(LIMIT_MS);
  const next = await claims.claim('a');
  expect(claims.settle('a', lost ?? '')).toBe(false);
  expect(claims.settle('a', 'stranger')).toBe(false);
  expect(claims.settle('b', next ?? '')).toBe(false);
  expect(claims.holds('a', next ?? '')).toBe(true);
});

it('[UP-2] leaves no timer behind', async () => {
  const claims = new UpstreamClaims(LIMIT_MS);
  const id = await claims.claim('a');
  claims.settle('a', id ?? '');
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});
