/** Long calls: renewed leases, server requests, streamed answers, and answers that the caller does not get. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RENEWAL_MS } from '../../../src/audit/calls/call-schema.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { ServerFailure } from '../../../src/gateway/server-failure.ts';
import type { CallReply } from '../../../src/upstream/protocol/call.ts';
import { createWorld, held, LAST, NOTE, result, sequence, taken } from './audited.ts';

const unreachable = new PorticoError('upstream_unreachable');
const NONE = { duration_ms: 0 };

/** Reads one message and no more. */
async function first(reply: CallReply): Promise<void> {
  if (!('messages' in reply)) return;
  await reply.messages.next();
  await reply.messages.return();
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a long call', () => {
  it('[SEC-6] renews its lease until it ends', async () => {
    const { answer, resolve } = held();
    const world = createWorld([answer]);
    const routed = world.call();
    await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
    const id = world.begun[0]?.call?.id;
    expect(world.renewed).toEqual([id, id]);
    resolve(result({}));
    await routed;
    await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
    expect(world.renewed).toHaveLength(2);
  });

  it('[SEC-9] renews its lease for three hours at most', async () => {
    const world = createWorld([held().answer]);
    void world.call();
    await vi.advanceTimersByTimeAsync(719 * RENEWAL_MS);
    expect(world.renewed).toHaveLength(719);
    await vi.advanceTimersByTimeAsync(5 * RENEWAL_MS);
    expect(world.renewed).toHaveLength(720);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a call with a server request', () => {
  const ASKING = result({ resultType: 'input_required' });

  it('[SEC-6] is one call together with its retry', async () => {
    const world = createWorld([ASKING, ASKING, result({ isError: true })]);
    const routed = await world.call();
    await routed.retry(new Map());
    expect(await world.endings()).toEqual([]);
    await routed.retry(new Map());
    expect(await world.endings()).toMatchObject([['done', null, { is_error: true }]]);
    expect(world.begun).toHaveLength(1);
  });

  it('[SEC-6] fails with its retry', async () => {
    const world = createWorld([ASKING, unreachable]);
    const routed = await world.call();
    await expect(routed.retry(new Map())).rejects.toMatchObject({ reason: unreachable });
    expect(await world.endings()).toEqual([['failed', 'upstream_unreachable', NONE]]);
  });

  it('[SEC-6] ends with the server request if its client comes back with another call', async () => {
    const world = createWorld([ASKING]);
    await world.call({}, { questions: 'suspend' });
    expect(await world.endings()).toMatchObject([
      ['done', null, { is_error: false, result: 'input_required' }],
    ]);
  });
});

describe('a call with a streamed answer', () => {
  it('[SEC-6] [MCP-7] ends with its response, and the messages pass', async () => {
    const world = createWorld([{ messages: sequence(NOTE, LAST, NOTE) }]);
    const { reply } = await world.call();
    expect(await world.endings()).toEqual([]);
    expect(await taken(reply)).toEqual([NOTE, LAST]);
    expect(await world.endings()).toEqual([
      ['done', null, { is_error: false, result_chars: 2, duration_ms: 100 }],
    ]);
  });

  it('[SEC-6] is done even if nobody reads beyond its response', async () => {
    const world = createWorld([{ messages: sequence(LAST) }]);
    const { reply } = await world.call();
    await first(reply);
    expect(await world.endings()).toMatchObject([['done', null, { is_error: false }]]);
  });

  it('[SEC-6] is cancelled if nobody reads its response', async () => {
    const world = createWorld([{ messages: sequence(NOTE, LAST) }]);
    const { reply } = await world.call();
    await first(reply);
    expect(await world.endings()).toEqual([['cancelled', null, NONE]]);
  });

  it('[SEC-6] [MCP-12] fails if the stream ends or breaks without a response', async () => {
    const world = createWorld([
      { messages: sequence(NOTE) },
      { messages: sequence(NOTE, unreachable) },
    ]);
    expect(await taken((await world.call()).reply)).toEqual([NOTE]);
    await expect(taken((await world.call()).reply)).rejects.toMatchObject({ reason: unreachable });
    expect(await world.endings()).toEqual([
      ['failed', 'upstream_no_response', NONE],
      ['failed', 'upstream_unreachable', NONE],
    ]);
  });
});

describe('an answer that the caller does not get', () => {
  it('[SEC-6] is a failure in the row', async () => {
    const world = createWorld();
    const { onReplaced } = await world.call();
    onReplaced?.('upstream_bad_message');
    expect(await world.endings()).toEqual([
      ['failed', 'upstream_bad_message', { is_error: false, result_chars: 14, ...NONE }],
    ]);
  });

  it('[SEC-6] ends a running call, and changes no earlier end', async () => {
    const world = createWorld([
      result({ resultType: 'input_required' }),
      { messages: sequence(unreachable) },
    ]);
    const { onReplaced } = await world.call();
    onReplaced?.('upstream_bad_message');
    const second = await world.call();
    await expect(taken(second.reply)).rejects.toBeInstanceOf(ServerFailure);
    second.onReplaced?.('upstream_bad_message');
    expect(await world.endings()).toEqual([
      ['failed', 'upstream_bad_message', NONE],
      ['failed', 'upstream_unreachable', NONE],
    ]);
  });
});
