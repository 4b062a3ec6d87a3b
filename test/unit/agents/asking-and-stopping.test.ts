/** When the loop pauses, for a person's decision or because it was interrupted, and how it continues. */
import { describe, expect, it } from 'vitest';
import type { ContinueChat } from '../../../src/agents/chat/chat-schema.ts';
import { interrupted, toContinued } from '../../../src/agents/chat/continuing.ts';
import { runLoop } from '../../../src/agents/chat/loop.ts';
import { ModelFailure } from '../../../src/models/model-port.ts';
import {
  begun,
  callOf,
  createWorld,
  itemOf,
  resultOf,
  scriptedModel,
  textsOf,
  type WorldOptions,
} from './scripted-chat.ts';

const never = new AbortController().signal;
const go = async (options: WorldOptions, state = begun(), signal: AbortSignal = never) => {
  const world = createWorld(options);
  return { ...world, state: await runLoop(state, world.ports, signal) };
};
const given = (input: Partial<ContinueChat>): ContinueChat => ({
  decisions: [],
  stream: false,
  ...input,
});
const containing = (text: string) => expect.stringContaining(text) as string;
const whenAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

describe('a person', () => {
  const asksFirst = () =>
    scriptedModel([
      { calls: [callOf('read'), callOf('write', { n: 1 }), callOf('write', { n: 2 })] },
      { text: 'written' },
    ]);

  it('[LLM-3] is asked before a call that may change something; read-only calls are made at once', async () => {
    const { state, told, happened } = await go({ model: asksFirst() });
    expect(state.stop).toBe('approval');
    expect(state.turn.map(({ place }) => place)).toEqual(['done', 'waiting', 'waiting']);
    expect(told.at(-1)).toMatchObject({
      type: 'approval',
      pending: [
        { id: 'call_2', name: 's.write', arguments: { n: 1 }, is_error: null },
        { id: 'call_3', name: 's.write', arguments: { n: 2 } },
      ],
    });
    expect(happened.flatMap(({ calls = [] }) => calls.map(({ name }) => name))).toEqual(['read']);
  });

  it('[LLM-3] approves one call and refuses another', async () => {
    const model = asksFirst();
    const { state: asked } = await go({ model });
    const decisions = [
      { call_id: 'call_2', approve: true },
      { call_id: 'call_3', approve: false },
    ];
    const { state, happened } = await go({ model }, toContinued(asked, given({ decisions })));
    expect(happened.flatMap(({ calls = [] }) => calls.map(({ id }) => id))).toEqual(['call_2']);
    expect(textsOf(state, 2)).toEqual(['read done', 'write done', containing('refused')]);
    expect(state).toMatchObject({ stop: 'answered', answer: 'written', spent: { steps: 2 } });
    expect(state.log.map(({ decision }) => decision)).toEqual(['allowed', 'approved', 'refused']);
  });

  it('[LLM-3] decides about some calls: the others keep waiting', async () => {
    const model = asksFirst();
    const { state: asked } = await go({ model });
    const decisions = [{ call_id: 'call_3', approve: true }];
    const { state } = await go({ model }, toContinued(asked, given({ decisions })));
    expect(state.stop).toBe('approval');
    expect(state.turn.map(({ place }) => place)).toEqual(['done', 'waiting', 'done']);
    expect(model.asked).toHaveLength(1);
  });

  it('[LLM-3] who sends a message instead has approved nothing', async () => {
    const model = asksFirst();
    const { state: asked } = await go({ model });
    const { state, happened } = await go({ model }, toContinued(asked, given({ message: 'no!' })));
    expect(happened.filter(({ what }) => what === 'run')).toEqual([]);
    const roles = state.messages.map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tools', 'user', 'assistant']);
    expect(state.stop).toBe('answered');
  });

  it('[LLM-3] cannot approve a call and overtake it with a message at once', async () => {
    const { state } = await go({ model: asksFirst() });
    const decide = (approve: boolean) =>
      toContinued(state, given({ message: 'and?', decisions: [{ call_id: 'call_2', approve }] }));
    expect(() => decide(true)).toThrow('after the approved calls');
    expect(decide(false).messages.at(-1)).toEqual({ role: 'user', text: 'and?' });
  });

  it('[LLM-3] is asked about every call, or never, as the policy says', async () => {
    const always = await go({ model: asksFirst() }, begun({ approve: 'always' }));
    expect(always.state.turn.map(({ place }) => place)).toEqual(['waiting', 'waiting', 'waiting']);
    const not = await go({ model: asksFirst() }, begun({ approve: 'never' }));
    expect(not.state.stop).toBe('answered');
  });

  it('[LLM-3] is shown the arguments that are sent', async () => {
    const model = asksFirst();
    const world = createWorld({ model });
    const toArguments = (name: string, args: object) => ({ ...args, name });
    const shown = async (state: Parameters<typeof world.ports.shown>[0]) => {
      const usable = await world.ports.shown(state);
      return (
        usable && { ...usable, tools: { tools: [], names: new Map(), warnings: [], toArguments } }
      );
    };
    const ports = { ...world.ports, shown };
    const asked = await runLoop(begun(), ports, never);
    const sees = world.told.at(-1);
    expect(sees).toMatchObject({ pending: [{ arguments: { n: 1, name: 'write' } }, {}] });
    const decisions = [
      { call_id: 'call_2', approve: true },
      { call_id: 'call_3', approve: false },
    ];
    await runLoop(toContinued(asked, given({ decisions })), ports, never);
    const sent = world.happened.findLast(({ what }) => what === 'run')?.calls;
    expect(sent).toMatchObject([{ id: 'call_2', arguments: { n: 1, name: 'write' } }]);
  });

  it('[LLM-3] has approved no other tool that has the name meanwhile', async () => {
    const model = scriptedModel([{ calls: [callOf('write')] }, { text: 'so be it' }]);
    const { state: asked } = await go({ model });
    const decisions = [{ call_id: 'call_1', approve: true }];
    const approved = toContinued(asked, given({ decisions }));
    const { name, item } = itemOf('write', false);
    const other = [
      { name, item, server: { id: 't', name: 's' } },
      { name, item: { ...item, key: 'wri' }, server: { id: 's', name: 's' } },
    ];
    for (const each of other) {
      const { state, happened } = await go({ model, items: [each] }, approved);
      expect(happened.filter(({ what }) => what === 'run')).toEqual([]);
      expect(textsOf(state, 2)).toEqual([containing('another tool')]);
      expect(state).toMatchObject({ stop: 'answered', log: [{ decision: 'approved' }] });
    }
  });

  it('[LLM-3] gets an error for a decision about a call that does not wait', async () => {
    const { state } = await go({ model: asksFirst() });
    for (const id of ['call_1', 'call_9']) {
      const decisions = [{ call_id: id, approve: true }];
      expect(() => toContinued(state, given({ decisions }))).toThrow('no such call waits');
    }
    expect(() => toContinued(state, given({}))).toThrow('calls wait for a decision');
  });
});

describe('an interruption', () => {
  it('[LLM-3] marks a call under way as unknown, and never repeats it', async () => {
    const model = scriptedModel([{ calls: [callOf('read')] }, { text: 'I do not know' }]);
    const crashed = (await go({ model })).happened[0]?.state ?? begun();
    expect(crashed.turn).toMatchObject([{ place: 'under_way' }]);
    const again = toContinued(interrupted(crashed), given({}));
    const { state, happened } = await go({ model }, again);
    expect(happened.filter(({ what }) => what === 'run')).toEqual([]);
    expect(textsOf(state, 2)).toEqual([containing('not known what became of this call')]);
    expect(state.log[0]).toMatchObject({ isUnknown: true });
    expect(state).toMatchObject({ stop: 'answered', spent: { calls: 1 } });
  });

  it('[LLM-3] in mid-call keeps the results so far, and reports the rest as unknown', async () => {
    const controller = new AbortController();
    const calls = [callOf('read', { n: 1 }), callOf('read', { n: 2 })];
    const model = scriptedModel([{ calls }, { text: 'never' }]);
    const run: WorldOptions['run'] = async (call, signal) => {
      if (call.arguments?.['n'] === 1) return resultOf('came');
      queueMicrotask(() => controller.abort('stopped'));
      return whenAborted(signal);
    };
    const { state } = await go({ model, run }, begun(), controller.signal);
    expect(state.stop).toBe('stopped');
    expect(textsOf(state)).toEqual(['came', containing('not known')]);
    expect(model.asked).toHaveLength(1);
  });

  it('[LLM-3] while the model is asked lets the question be asked again', async () => {
    const controller = new AbortController();
    const slow = scriptedModel([{}]);
    slow.chat = ({ signal }) => {
      queueMicrotask(() => controller.abort('seconds'));
      return whenAborted(signal);
    };
    const { state } = await go({ model: slow }, begun(), controller.signal);
    expect(state).toMatchObject({ stop: 'seconds', messages: [{ role: 'user' }] });
    const model = scriptedModel([{ text: 'hi' }]);
    const { state: after } = await go({ model }, toContinued(state, given({})));
    expect(after).toMatchObject({ stop: 'answered', answer: 'hi' });
  });

  it('[LLM-3] by revoked access ends the run', async () => {
    let may = true;
    const model = scriptedModel([{ calls: [callOf('read')] }, { text: 'never' }]);
    const run = async () => {
      may = false;
      return resultOf('the last');
    };
    const { state } = await go({ model, run, mayUse: () => may });
    expect([state.stop, model.asked.length]).toEqual(['revoked', 1]);
    const before = await go({ model: scriptedModel([{ text: 'never' }]), mayUse: () => false });
    expect(before.state).toMatchObject({ stop: 'revoked', spent: { steps: 0 } });
  });

  it('[LLM-3] a tool that was removed between question and call is not called', async () => {
    const model = scriptedModel([{ calls: [callOf('read')] }, { text: 'gone' }]);
    const world = createWorld({ model, items: [itemOf('read')] });
    const empty = createWorld({ model, items: [] });
    let looks = 0;
    const shown: typeof world.ports.shown = async state =>
      (looks += 1) === 1 ? world.ports.shown(state) : empty.ports.shown(state);
    const state = await runLoop(begun(), { ...world.ports, shown }, never);
    expect(textsOf(state, 2)).toEqual(['no such tool']);
    expect(world.happened.filter(({ what }) => what === 'run')).toEqual([]);
  });

  it('[LLM-3] by a failing model ends the run, and keeps what was done', async () => {
    const model = scriptedModel([{ calls: [callOf('read')] }, new ModelFailure('unavailable')]);
    const { state } = await go({ model });
    expect(state).toMatchObject({ stop: 'model_failed', problem: containing('model') });
    expect(textsOf(state)).toEqual(['read done']);
    const spent = await go({ model: scriptedModel([new ModelFailure('budget')]) });
    expect(spent.state.stop).toBe('model_budget');
  });

  it('[LLM-3] by an answer that is cut or refused is reported', async () => {
    for (const stop of ['length', 'refused'] as const) {
      const { state } = await go({ model: scriptedModel([{ text: 'well', stop }]) });
      expect(state).toMatchObject({ stop, answer: 'well' });
      expect(() => toContinued(state, given({}))).toThrow('the model has answered');
    }
  });
});
