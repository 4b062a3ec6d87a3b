/** Turns that were cut, refused or broken off: how their calls are shown, and what the model gets when it is asked again. */
import { describe, expect, it } from 'vitest';
import type { TurnReply } from '../../../src/models/formats/dialect.ts';
import { ModelFailure } from '../../../src/models/model-port.ts';
import { toChatView } from '../../../src/agents/chat/chat-events.ts';
import { ContinueChatSchema } from '../../../src/agents/chat/chat-schema.ts';
import type { ChatState } from '../../../src/agents/chat/chat-state.ts';
import { toContinued } from '../../../src/agents/chat/continuing.ts';
import { runLoop } from '../../../src/agents/chat/loop.ts';
import { begun, callOf, createWorld, scriptedModel, type Scripted } from './scripted-chat.ts';

const never = new AbortController().signal;
const given = (body: object) => ContinueChatSchema.parse(body);
const go = async (replies: readonly Scripted[], from: ChatState = begun()) => {
  const model = scriptedModel(replies);
  const world = createWorld({ model });
  return { ...world, model, state: await runLoop(from, world.ports, never) };
};
const partial = (calls: TurnReply['calls'], text = ''): TurnReply => ({
  text,
  calls,
  raw: undefined,
  stop: 'interrupted',
  tokens: undefined,
});

describe('a turn that is cut, refused or broken off', () => {
  it.each(['length', 'refused', 'interrupted'] as const)(
    '[LLM-3] %s: none of its calls is made, however complete they look',
    async stop => {
      const calls = [callOf('write', {}), callOf('read', { path: 'a' }), callOf('nothing', {})];
      const { state, happened, told } = await go([{ text: 'well', calls, stop }]);
      expect(happened).toEqual([]);
      expect(state).toMatchObject({ stop, turn: [], spent: { steps: 1, calls: 0 } });
      const view = toChatView('x', 'idle', state);
      expect(view).toMatchObject({ stop_reason: stop, answer: 'well' });
      const unmade = { arguments: null, decision: 'not_made', is_error: true };
      const names = ['s.write', 's.read', 'nothing'];
      expect(view.calls).toEqual(
        names.map((name, i) => ({ id: `call_${i + 1}`, name, ...unmade })),
      );
      const events = told.filter(({ type }) => type !== 'text');
      expect(events).toEqual(view.calls.map(call => ({ type: 'call', call })));
    },
  );

  it('[LLM-3] asks nobody to approve calls that are not made', async () => {
    const { state } = await go(
      [{ calls: [callOf('write')], stop: 'length' }],
      begun({ approve: 'always' }),
    );
    expect(toChatView('x', 'idle', state)).not.toHaveProperty('pending');
  });

  it.each([
    ['length', ['user', 'assistant', 'user']],
    ['refused', ['user']],
    ['interrupted', ['user']],
  ] as const)('[LLM-3] %s: continuing asks again, without what was cut', async (stop, roles) => {
    const { state } = await go([{ text: 'well', calls: [callOf('write')], stop }]);
    const asked = await go(
      [{ calls: [callOf('read')] }, { text: 'done' }],
      toContinued(state, given({})),
    );
    const messages = asked.model.asked[0]?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(roles);
    expect(messages.flatMap(each => (each.role === 'assistant' ? each.calls : []))).toEqual([]);
    expect(JSON.stringify(messages).includes('none of the calls')).toBe(stop === 'length');
    expect(asked.state).toMatchObject({ stop: 'answered', answer: 'done' });
    // Ids continue: a call that was not made keeps its id.
    expect(asked.state.log.at(-1)?.id).toBe('call_2');
  });

  it('[LLM-3] a broken stream shows what it had begun, and a message continues the chat', async () => {
    const broken = new ModelFailure('broken', undefined, partial([callOf('write')], 'I wri'));
    const { state, happened } = await go([{ calls: [callOf('read')] }, broken]);
    expect(happened.filter(({ what }) => what === 'run')).toHaveLength(1);
    expect(state).toMatchObject({ stop: 'interrupted', answer: 'I wri' });
    expect(state.problem).toContain('broke off');
    expect(state.log.map(({ tool, decision }) => [tool, decision])).toEqual([
      ['s.read', 'allowed'],
      ['s.write', 'not_made'],
    ]);
    const more = await go([{ text: 'done' }], toContinued(state, given({ message: 'And?' })));
    expect(more.model.asked[0]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tools',
      'user',
    ]);
    expect(more.state.stop).toBe('answered');
  });
});

describe('a call that the model API could not parse', () => {
  const malformed = { stop: 'malformed' as const, problem: 'The call could not be read: get(1' };

  it('[LLM-3] is reported to the model once, and the run continues', async () => {
    const turns = [malformed, { calls: [callOf('read')] }, { ...malformed, text: 'Well.' }, {}];
    const { state, model } = await go(turns);
    expect(state).toMatchObject({ stop: 'answered', spent: { steps: 4 } });
    const told = model.asked.map(({ messages }) => messages.at(-1));
    expect(told[1]).toMatchObject({ role: 'user', note: 'malformed' });
    expect(JSON.stringify(told[1])).toContain('The call could not be read: get(1. Call again');
    // After another turn it is reported again.
    expect(model.asked[3]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', text: 'Well.', calls: [] },
      { role: 'user', note: 'malformed' },
    ]);
  });

  it('[LLM-3] ends the run if the model was told just before', async () => {
    const { state, model } = await go([malformed]);
    expect(model.asked).toHaveLength(2);
    expect(state.stop).toBe('model_failed');
    expect(state.problem).toContain('again after it was told: The call could not be read: get(1');
    const asked = await go([{ text: 'done' }], toContinued(state, given({})));
    expect(asked.state).toMatchObject({ stop: 'answered', answer: 'done' });
  });

  it('[LLM-3] prevents the calls beside it', async () => {
    const { state, happened } = await go([{ ...malformed, calls: [callOf('write')] }, {}]);
    expect(happened.filter(({ what }) => what === 'run')).toEqual([]);
    expect(state.log.map(({ decision }) => decision)).toEqual(['not_made']);
  });
});
