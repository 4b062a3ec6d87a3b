/** Audit rows of calls: how each begins, and its single end, whatever causes it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RENEWAL_MS } from '../../../src/audit/calls/call-schema.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import { recordOf } from '../../../src/gateway/steps/record.ts';
import { ServerFailure } from '../../../src/gateway/server-failure.ts';
import { ada, alpha, createWorld, held, result, type Answer } from './audited.ts';

const STARTED_AT = 1_000_000;
const unreachable = new PorticoError('upstream_unreachable');
const NONE = { duration_ms: 0 };

beforeEach(() => void vi.useFakeTimers({ now: STARTED_AT }));
afterEach(() => void vi.useRealTimers());

describe('the row of a call', () => {
  it('[SEC-6] is stored before the call is sent, with what was called and without secrets', async () => {
    let sentBefore: number | undefined;
    const world = createWorld([], { admit: () => ((sentBefore = world.sent.length), {}) });
    const params = new Map([['arguments', '{"pin":"4711","n":1}']]);
    await world.call({ params, source: 'rest' });
    expect(sentBefore).toBe(0);
    expect(world.begun).toMatchObject([
      {
        principalId: 'ada',
        call: { at: STARTED_AT, tokenId: 't', action: 'tool.call', subject: 'alpha.echo' },
      },
    ]);
    const detail = JSON.parse(world.begun[0]?.call?.detail ?? '{}') as object;
    expect(detail).toMatchObject({ door: 'rest', server: alpha.id, arguments: { n: 1 } });
    expect(JSON.stringify(detail)).not.toContain('4711');
    expect(world.begun[0]).not.toHaveProperty('refused');
  });

  it.each<[string, Partial<RelayedRequest>, string, string]>([
    [
      'prompts/get',
      { reference: { kind: 'prompt', name: 'alpha.greet' } },
      'prompt.get',
      'alpha.greet',
    ],
    [
      'resources/read',
      { reference: { kind: 'resource', name: 'alpha+note://a' } },
      'resource.read',
      'alpha+note://a',
    ],
  ])('[SEC-6] names what %s asked for as endpoints do', async (method, more, action, subject) => {
    const world = createWorld();
    await world.call({ method: method as 'prompts/get', ...more, params: new Map() });
    expect(world.begun).toMatchObject([{ call: { action, subject } }]);
    expect(JSON.parse(world.begun[0]?.call?.detail ?? '')).toEqual({ server: alpha.id });
  });

  it('[SEC-6] exists for calls only', async () => {
    const world = createWorld();
    const { reply } = await world.call({
      method: 'completion/complete',
      reference: { kind: 'prompt', name: 'alpha.greet' },
    });
    expect([reply, world.begun, await world.endings()]).toEqual([result({ content: [] }), [], []]);
  });

  it('[SEC-6] records a refused call, and why', async () => {
    const world = createWorld();
    const reference = { kind: 'tool', name: 'alpha.none' } as const;
    await expect(world.call({ reference })).rejects.toMatchObject({ code: 'tool_not_found' });
    expect(world.begun).toMatchObject([
      { call: { subject: 'alpha.none' }, refused: { outcome: 'denied', code: 'tool_not_found' } },
    ]);
    world.gone.abort();
    await expect(world.call({ reference })).rejects.toMatchObject({ code: 'tool_not_found' });
    expect(world.begun[1]).toMatchObject({ refused: { outcome: 'cancelled', code: null } });
    expect(world.begun[0]?.call?.id).not.toBe(world.begun[1]?.call?.id);
    expect(await world.endings()).toEqual([]);
  });

  it('[SEC-6] [ACC-6] has its end already if a limit refused the call', async () => {
    const world = createWorld([], { admit: () => ({ retryAfterMs: 5 }) });
    await expect(world.call()).rejects.toMatchObject({ code: 'rate_limited' });
    world.gone.abort();
    expect([world.begun.length, world.sent, await world.endings()]).toEqual([1, [], []]);
  });

  it('[ACC-6] does not exist if calls are limited only', async () => {
    const limits = { principal: { perMinute: 60, burst: 10 } };
    const world = createWorld([unreachable], { isRecording: false, limits });
    await expect(world.call()).rejects.toBeInstanceOf(ServerFailure);
    const routed = await world.call();
    expect(routed.onReplaced).toBeUndefined();
    expect(world.drawnOn).toHaveLength(2);
    world.gone.abort();
    await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
    expect([world.renewed, await world.endings()]).toEqual([[], []]);
    await world.gateway.spend(ada);
    expect(world.drawnOn).toHaveLength(3);
    expect(world.begun).toEqual([]);
  });
});

describe('the end of a call', () => {
  it.each<[string, Answer, unknown[]]>([
    [
      'an answer',
      result({ content: [] }),
      ['done', null, { is_error: false, result_chars: 14, ...NONE }],
    ],
    [
      'a result of an error',
      result({ isError: true }),
      ['done', null, { is_error: true, result_chars: 16, ...NONE }],
    ],
    [
      'another word for an error',
      result({ isError: 'no' }),
      ['done', null, { is_error: false, result_chars: 16, ...NONE }],
    ],
    [
      'an error',
      { response: { kind: 'response', error: '{}', parsed: { code: -7, isError: false } } },
      ['done', null, { is_error: true, rpc_code: -7, ...NONE }],
    ],
    [
      'a task',
      result({ resultType: 'task' }),
      ['done', null, { is_error: false, result: 'task', result_chars: 21, ...NONE }],
    ],
    [
      'a type nobody knows',
      result({ resultType: 'x' }),
      ['done', null, { is_error: false, result_chars: 18, ...NONE }],
    ],
  ])('[SEC-6] is recorded for %s', async (_name, answer, end) => {
    const world = createWorld([answer]);
    const { reply } = await world.call();
    expect(reply).toBe(answer);
    // It waits for others.
    expect(world.ended).toEqual([]);
    expect(await world.endings()).toEqual([end]);
    expect(world.ended[0]?.id).toBe(world.begun[0]?.call?.id);
  });

  it('[SEC-6] marks a cached result', async () => {
    const world = createWorld();
    const reference = { kind: 'tool', name: 'alpha.echo' } as const;
    const request = { method: 'tools/call', reference, params: new Map() } as const;
    const record = recordOf(world.ledger, ada, request, {
      signal: world.gone.signal,
      owner: () => 'o',
      waitUntil: () => {},
      capabilities: {},
      questions: 'ask',
    });
    await record.begin({ server: alpha, name: 'echo' });
    const retry = () => Promise.reject(new Error('no'));
    record.watch({ server: alpha, reply: result({}), retry, isHit: true });
    expect(await world.endings()).toMatchObject([['done', null, { cached: true }]]);
  });

  it("[SEC-9] removes all listeners from the client's signal", async () => {
    const world = createWorld();
    const [add, remove] = (['addEventListener', 'removeEventListener'] as const).map(name =>
      vi.spyOn(world.gone.signal, name),
    );
    await world.call();
    // The listener of its row.
    const [added, removed] = [add, remove].map(
      each => new Set(each?.mock.calls.map(([, listener]) => listener)),
    );
    expect(added?.size).toBe(1);
    expect(removed).toEqual(added);
  });

  it('[SEC-6] records the duration, and happens once', async () => {
    const { answer, resolve } = held();
    const world = createWorld([answer]);
    const routed = world.call();
    await vi.advanceTimersByTimeAsync(70);
    resolve(result({ content: [] }));
    await routed;
    world.gone.abort();
    expect(await world.endings()).toEqual([
      ['done', null, { is_error: false, result_chars: 14, duration_ms: 70 }],
    ]);
    await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
    expect(world.renewed).toEqual([]);
  });

  it('[SEC-6] is the failure of its server', async () => {
    const world = createWorld([unreachable, new Error('a mistake of ours')]);
    await expect(world.call()).rejects.toMatchObject({ reason: unreachable });
    await expect(world.call()).rejects.toThrow('a mistake of ours');
    expect(await world.endings()).toEqual([
      ['failed', 'upstream_unreachable', NONE],
      ['failed', 'internal', NONE],
    ]);
  });

  it('[SEC-6] [UP-3] is recorded at once when the client leaves, and nothing after it', async () => {
    const { answer, reject } = held();
    const world = createWorld([answer]);
    const routed = world.call();
    await vi.advanceTimersByTimeAsync(30);
    world.gone.abort();
    // In this very event: no later one comes.
    expect(world.ended).toMatchObject([
      { outcome: 'cancelled', code: null, detail: { duration_ms: 30 } },
    ]);
    reject(unreachable);
    await expect(routed).rejects.toBeInstanceOf(ServerFailure);
    expect(await world.endings()).toHaveLength(1);
  });

  it('[SEC-6] [UP-3] is recorded for a client that left before the call was sent', async () => {
    const world = createWorld([], { admit: () => (world.gone.abort(), {}) });
    await world.call();
    expect(world.ended).toMatchObject([{ outcome: 'cancelled', code: null }]);
    await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
    expect([world.renewed, world.ended.length]).toEqual([[], 1]);
  });

  it('[SEC-6] is a cancellation if the client left, whichever part notices that first', async () => {
    const world = createWorld([result({ resultType: 'input_required' })]);
    let onGone = () => {};
    world.gone.signal.addEventListener('abort', () => onGone());
    const { onReplaced } = await world.call();
    onGone = () => onReplaced?.('upstream_timeout');
    world.gone.abort();
    expect(await world.endings()).toEqual([['cancelled', null, NONE]]);
  });
});

describe('a refusal before the request is parsed', () => {
  const told = async (method: string, thrown: unknown, subject?: string) => {
    const world = createWorld();
    const asked = subject === undefined ? {} : { subject };
    const refusal = { method, thrown, source: 'legacy', ...asked } as const;
    await world.gateway.refused(ada, refusal, () => {});
    return world.begun.map(({ call, refused }) => {
      const { action, subject: about, detail, at } = call ?? {};
      return { action, about, detail, at, outcome: refused?.outcome, code: refused?.code };
    });
  };
  const row = { detail: '{"door":"legacy"}', at: STARTED_AT };

  it('[SEC-6] has a row if it is a call', async () => {
    expect(await told('tools/call', new PorticoError('invalid_params'), 'alpha.echo')).toEqual([
      {
        ...row,
        action: 'tool.call',
        about: 'alpha.echo',
        outcome: 'failed',
        code: 'invalid_params',
      },
    ]);
    const failure = new ServerFailure(alpha, unreachable);
    expect(await told('prompts/get', failure)).toEqual([
      { ...row, action: 'prompt.get', about: '', outcome: 'failed', code: 'upstream_unreachable' },
    ]);
  });

  it('[SEC-6] has a row if the caller lacks the right, and else none', async () => {
    expect(await told('tools/list', new PorticoError('forbidden'))).toEqual([
      { ...row, action: 'tools/list', about: '', outcome: 'denied', code: 'forbidden' },
    ]);
    expect(await told('tools/list', new PorticoError('invalid_params'))).toEqual([]);
  });
});
