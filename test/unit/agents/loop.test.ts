/** The loop with a scripted model: what it does, in which order, and which bounds stop it. */
import { describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../../src/agents/chat/chat-state.ts';
import { runLoop } from '../../../src/agents/chat/loop.ts';
import {
  begun,
  callOf,
  createWorld,
  resultOf,
  scriptedModel,
  textsOf,
  type WorldOptions,
} from './scripted-chat.ts';

const never = new AbortController().signal;
const go = async (options: WorldOptions, state = begun()) => {
  const world = createWorld(options);
  return { ...world, state: await runLoop(state, world.ports, never) };
};
const limitsOf = (given: object) => ({ limits: { ...begun().limits, ...given } });

describe('the loop', () => {
  it('[LLM-3] asks, calls, asks again and answers', async () => {
    const model = scriptedModel([
      { text: 'I look.', calls: [callOf('read', { path: 'a' })] },
      { text: 'It says so.' },
    ]);
    const { state, told } = await go({ model });
    expect(state).toMatchObject({ stop: 'answered', answer: 'It says so.', turn: [] });
    expect(state.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tools',
      'assistant',
    ]);
    expect(textsOf(state, 2)).toEqual(['read done']);
    expect(state.spent).toMatchObject({ steps: 2, calls: 1, inputTokens: 20, outputTokens: 10 });
    expect(told.map(({ type }) => type)).toEqual(['text', 'call', 'result', 'text']);
    expect(model.asked[1]?.messages).toHaveLength(3);
  });

  it('[LLM-3] stores calls as under way before it makes any of them', async () => {
    const model = scriptedModel([
      { calls: [callOf('read'), callOf('read')] },
      { calls: [callOf('read')] },
      { text: 'done' },
    ]);
    const { happened } = await go({ model });
    expect(happened.map(({ what }) => what)).toEqual([
      'save',
      'run',
      'save',
      'save',
      'run',
      'save',
    ]);
    const runs = happened.flatMap(({ what, calls }, i) =>
      what === 'run' ? [[happened[i - 1]?.state?.turn ?? [], calls ?? []] as const] : [],
    );
    for (const [turn, calls] of runs) {
      expect(turn.map(({ id, place }) => [id, place])).toEqual(
        calls.map(({ id }) => [id, 'under_way']),
      );
    }
  });

  it('[LLM-3] makes the calls of one turn together; a failed call is a result of its own', async () => {
    const calls = [1, 2, 3].map(n => callOf('read', { n }));
    const model = scriptedModel([{ calls }, { text: 'done' }]);
    let started = 0;
    let release = () => {};
    const all = new Promise<void>(resolve => (release = resolve));
    const { state } = await go({
      model,
      async run(call) {
        if ((started += 1) === 3) release();
        await all;
        return call.arguments?.['n'] === 2 ? resultOf('broke', true) : resultOf('fine');
      },
    });
    expect(textsOf(state, 2)).toEqual(['fine', 'broke', 'fine']);
    expect(state.log.map(({ result }) => result?.['isError'])).toEqual([false, true, false]);
    expect(state.stop).toBe('answered');
  });

  it('[LLM-3] answers calls that cannot be read and tools that do not exist, and continues', async () => {
    const broken = { ...callOf('read'), arguments: undefined, problem: 'no JSON' };
    const model = scriptedModel([{ calls: [broken, callOf('nothing')] }, { text: 'sorry' }]);
    const { state } = await go({ model }, begun({ approve: 'always' }));
    expect(textsOf(state, 2)).toEqual(['no JSON', 'no such tool']);
    expect(state.log.map(({ decision }) => decision)).toEqual(['unusable', 'unusable']);
    expect(state).toMatchObject({ stop: 'answered', answer: 'sorry' });
  });

  it('[LLM-3] distinguishes calls with equal ids', async () => {
    const twice = { ...callOf('read', { n: 1 }), id: 'same' };
    const model = scriptedModel([{ calls: [twice, { ...twice, arguments: { n: 2 } }] }, {}]);
    const run: WorldOptions['run'] = async call => resultOf(JSON.stringify(call.arguments));
    const { state } = await go({ model, run });
    expect(textsOf(state, 2)).toEqual(['{"n":1}', '{"n":2}']);
    expect(state.messages[2]).toMatchObject({ results: [{ id: 'same' }, { id: 'same' }] });
  });
});

describe('a bound', () => {
  const looper = () => scriptedModel([{ text: 'again', calls: [callOf('read')] }]);

  it('[LLM-3] of steps stops a model that loops for ever', async () => {
    const model = looper();
    const { state, happened } = await go({ model }, begun(limitsOf({ steps: 4 })));
    expect(state.stop).toBe('steps');
    expect(model.asked).toHaveLength(4);
    expect(happened.filter(({ what }) => what === 'run')).toHaveLength(4);
    expect(state.messages).toHaveLength(9);
  });

  it('[LLM-3] of calls: calls beyond it are answered, but never made', async () => {
    const calls = Array.from({ length: 5 }, (_, n) => callOf('read', { n }));
    const model = scriptedModel([{ calls }]);
    const { state, happened } = await go({ model }, begun(limitsOf({ calls: 3 })));
    expect(state.stop).toBe('calls');
    expect(happened.flatMap(event => (event.what === 'run' ? event.calls : []))).toHaveLength(3);
    const beyond = expect.stringContaining('was not made') as string;
    expect(textsOf(state)).toEqual(['read done', 'read done', 'read done', beyond, beyond]);
    expect(model.asked).toHaveLength(1);
  });

  it('[LLM-3] of calls still lets the model answer', async () => {
    const model = scriptedModel([{ calls: [callOf('read')] }, { text: 'that is it' }]);
    const { state } = await go({ model }, begun(limitsOf({ calls: 1 })));
    expect(state).toMatchObject({ stop: 'answered', answer: 'that is it' });
  });

  it('[LLM-3] of tokens is checked before the model is asked', async () => {
    const calls = [callOf('read')];
    const model = scriptedModel([{ calls, tokens: { input: 1_000, output: 400 } }]);
    const { state } = await go({ model }, begun(limitsOf({ tokens: 1_500 })));
    expect(state.stop).toBe('tokens');
    expect(model.asked).toHaveLength(1);
    expect(state.spent.inputTokens + state.spent.outputTokens).toBeLessThanOrEqual(1_500);
    expect(model.asked[0]?.maxTokens).toBeLessThan(1_500);
  });

  it('[LLM-3] of cost is checked before the model is asked', async () => {
    const calls = [callOf('read')];
    const reply = { calls, tokens: { input: 3_000, output: 1_000 } };
    const model = scriptedModel([reply], { price: 0.000_01 });
    const { state } = await go({ model }, begun(limitsOf({ costUsd: 0.05 })));
    expect(state.stop).toBe('cost');
    expect(model.asked).toHaveLength(2);
    expect(model.asked[1]?.maxTokens).toBeLessThan(1_000);
  });

  it('[LLM-3] of cost without prices lets no model be asked', async () => {
    const model = scriptedModel([{ text: 'hello' }]);
    const { state } = await go({ model }, begun(limitsOf({ costUsd: 1 })));
    expect([state.stop, model.asked.length]).toEqual(['cost', 0]);
  });

  it('[LLM-3] of seconds counts the earlier time of the run', async () => {
    const model = looper();
    let at = 0;
    const now = () => (at += 10_000);
    const spent = { ...NOTHING_SPENT, ms: 20_000 };
    const { state } = await go({ model, now }, begun({ ...limitsOf({ seconds: 60 }), spent }));
    expect(state.stop).toBe('seconds');
    expect(state.spent.ms).toBeGreaterThan(60_000);
    expect(model.asked.length).toBeLessThan(3);
  });

  it('[LLM-3] of size: what does not fit is dropped, and the chat stays valid', async () => {
    const model = scriptedModel([{ calls: Array.from({ length: 20 }, () => callOf('read')) }]);
    const run = async () => resultOf('x'.repeat(59_000));
    const { state } = await go({ model, run }, begun(limitsOf({ calls: 100 })));
    expect(state.stop).toBe('size');
    expect(JSON.stringify(state).length).toBeLessThan(1_000_000);
    expect(state.turn).toEqual([]);
    expect(textsOf(state)[0]).toContain('not kept');
  });

  it('[LLM-3] of one result: the beginning of a large one is kept', async () => {
    const model = scriptedModel([{ calls: [callOf('read')] }, {}]);
    const { state } = await go({ model, run: async () => resultOf('y'.repeat(500_000)) });
    expect(textsOf(state, 2)[0]).toContain('cut');
    expect(JSON.stringify(state.messages[2]).length).toBeLessThan(251_000);
  });
});
