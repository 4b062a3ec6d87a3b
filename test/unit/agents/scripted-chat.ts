/** Shared by the tests of the loop: a scripted model, scripted tools, and a record of what was saved and run when. */
import type { ListedItem } from '../../../src/gateway/listing.ts';
import type { CanonicalCall, CanonicalResult } from '../../../src/models/formats/canonical-form.ts';
import type { Dialect, TurnReply } from '../../../src/models/formats/dialect.ts';
import type { ChatTurnRequest, ChatModel } from '../../../src/models/chat-port.ts';
import { NO_TRACES } from '../../../src/tracing/tracer.ts';
import type { ChatEvent } from '../../../src/agents/chat/chat-events.ts';
import { NOTHING_SPENT, type ChatState } from '../../../src/agents/chat/chat-state.ts';
import { withMessage } from '../../../src/agents/chat/continuing.ts';
import type { LoopPorts, Shown } from '../../../src/agents/chat/loop.ts';

export type Scripted = Partial<TurnReply> | Error;

/** A dialect without a format: requests are the turn itself. */
const DIALECT = {
  format: 'openai-chat',
  toRequest: ({ system, messages }) => ({ system, messages }),
} as Partial<Dialect> as Dialect;

let made = 0;
/** A call of a tool. */
export const callOf = (name: string, given: CanonicalCall['arguments'] = {}): CanonicalCall => ({
  id: `m${(made += 1)}`,
  name,
  arguments: given,
});

/** A model with these replies; it repeats the last one for ever. */
export function scriptedModel(
  replies: readonly Scripted[],
  { price }: { price?: number } = {},
): ChatModel & { asked: ChatTurnRequest[] } {
  const asked: ChatTurnRequest[] = [];
  return {
    name: 'scripted',
    dialect: DIALECT,
    asked,
    costOf: ({ input, output }) => (price === undefined ? undefined : (input + output) * price),
    async chat(ask) {
      const reply = replies[Math.min(asked.length, replies.length - 1)] ?? {};
      asked.push(ask);
      if (reply instanceof Error) throw reply;
      const { text = '', calls = [], tokens = { input: 10, output: 5 } } = reply;
      ask.onText?.(text);
      const stop = reply.stop ?? (calls.length > 0 ? 'calls' : 'end');
      const problem = reply.problem === undefined ? {} : { problem: reply.problem };
      return { text, calls, raw: { calls }, stop, tokens, ...problem };
    },
  };
}

/** A tool as it appears in the caller's list. */
export function itemOf(name: string, isReadOnly = true): ListedItem {
  const raw = new Map([['annotations', JSON.stringify({ readOnlyHint: isReadOnly })]]);
  const item = { key: name, raw } as unknown as ListedItem['item'];
  return { name, server: { id: 's', name: 's' }, item };
}

export const resultOf = (text: string, isError = false): CanonicalResult['result'] => ({
  content: [{ type: 'text', text }],
  ...(isError ? { isError } : {}),
});

export interface World {
  ports: LoopPorts;
  /** Every save and run in order. */
  happened: { what: 'save' | 'run'; state?: ChatState; calls?: readonly CanonicalCall[] }[];
  told: ChatEvent[];
}

export interface WorldOptions {
  model: ChatModel;
  items?: readonly ListedItem[];
  /** Makes a call and returns its result. */
  run?: (call: CanonicalCall, signal: AbortSignal) => Promise<CanonicalResult['result']>;
  /** Whether the caller still has access. */
  mayUse?: () => boolean;
  now?: () => number;
}

const TOOLS = [itemOf('read'), itemOf('write', false)];

export function createWorld({ model, items = TOOLS, ...more }: WorldOptions): World {
  const { run = async ({ name }) => resultOf(`${name} done`), mayUse = () => true } = more;
  const happened: World['happened'] = [];
  const told: ChatEvent[] = [];
  const byName = new Map(items.map(item => [item.name, item]));
  const shown: Shown = {
    tools: undefined,
    items: byName,
    async run(calls, watch, signal) {
      happened.push({ what: 'run', calls });
      return Promise.all(
        calls.map(async call => {
          const problem = call.problem ?? (byName.has(call.name) ? undefined : 'no such tool');
          const result = problem ? resultOf(problem, true) : await run(call, signal);
          const ended = { id: call.id, name: call.name, result };
          watch(call.id, ended);
          return ended;
        }),
      );
    },
  };
  const ports: LoopPorts = {
    model,
    shown: async () => (mayUse() ? shown : undefined),
    save: async state => void happened.push({ what: 'save', state: structuredClone(state) }),
    onStep: () => {},
    onEvent: event => void told.push(event),
    isWatched: true,
    now: more.now ?? (() => 0),
    span: NO_TRACES.start('test', {}, () => {}),
  };
  return { ports, happened, told };
}

/** A chat that has received its first message. */
export function begun(more: Partial<ChatState> = {}): ChatState {
  const empty: ChatState = {
    version: 1,
    format: 'openai-chat',
    model: 'scripted',
    messages: [],
    turn: [],
    log: [],
    lastCall: 0,
    spent: NOTHING_SPENT,
    limits: { steps: 10, calls: 10, tokens: 100_000, seconds: 60, costUsd: undefined },
    approve: 'writes',
    only: {},
    answer: '',
  };
  return { ...withMessage(empty, 'do it'), ...more };
}

/** The texts of the results in a message. */
export const textsOf = (state: ChatState, at = -1): string[] => {
  const message = state.messages.at(at);
  if (message?.role !== 'tools') return [];
  return message.results.map(({ result }) => {
    const [block] = result['content'] as { text: string }[];
    return block?.text ?? '';
  });
};
