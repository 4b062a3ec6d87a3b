/** How the request of a chat's run ends, and what is stored of a run that breaks. */
import { expect, it } from 'vitest';
import type { ChatRecords } from '../../../src/agents/chat/chat-records.ts';
import { ChatService, type ChatPorts } from '../../../src/agents/chat/chat-service.ts';
import type { ChatState } from '../../../src/agents/chat/chat-state.ts';
import type { ChatCaller, ToolPorts } from '../../../src/agents/chat/shown-tools.ts';
import type { ChatModel } from '../../../src/models/chat-port.ts';
import { Operation, type EndedOperation } from '../../../src/telemetry/operation.ts';
import { NO_TRACES } from '../../../src/tracing/tracer.ts';

const REPLY = {
  text: 'I will look',
  calls: [{ id: 'm1', name: 'read', arguments: {} }],
  raw: {},
  stop: 'calls',
  tokens: { input: 10, output: 5 },
} as const;

const CALLER = {
  principalId: 'p',
  scopes: new Set(['tools:read', 'tools:call']),
  policy: { limits: '', toolset: () => undefined },
};

/** Runs a chat whose model wants to call a tool. @param rights of the caller, each time they are read */
async function run(rights: () => Promise<unknown>) {
  const written: { status: string; state: ChatState }[] = [];
  const records = {
    create: async () => ({ id: 'c', principalId: 'p', claim: 'x' }),
    write: async (_: unknown, status: string, state: ChatState) =>
      written.push({ status, state }) > 0,
    renew: async () => ({ isStopped: false }),
  } as unknown as ChatRecords;
  const model = {
    name: 'scripted',
    dialect: {
      format: 'openai-chat',
      toRequest: () => ({}),
      toTools: () => ({ tools: [], names: new Map(), warnings: [] }),
    },
    costOf: () => undefined,
    chat: async () => REPLY,
  } as unknown as ChatModel;
  const tools = {
    gateway: { spend: async () => {} },
    listForModel: async () => ({ tools: [], items: new Map() }),
  } as unknown as ToolPorts;
  const limits = { steps: 5, calls: 5, tokens: 10_000, seconds: 60, costUsd: undefined };
  const settings = { ...limits, limits, approval: 'never', keptMs: 1, maxKept: 1 };
  const ports = { records, model, tools, tracer: NO_TRACES, now: Date.now, settings };
  let ended: EndedOperation | undefined;
  const operation = new Operation(
    end => (ended = end),
    () => undefined,
    false,
  );
  const caller = {
    caller: CALLER,
    visible: { servers: [] },
    source: 'rest',
    rights,
    signal: new AbortController().signal,
    operation,
    waitUntil: () => {},
  } as unknown as ChatCaller;
  const chats = new ChatService(ports as unknown as ChatPorts);
  const ready = await chats.begin(caller, {
    message: 'hi',
    tools: {},
    limits: {},
    stream: false,
  });
  const view = await ready.run({ isStreamed: false, onEvent: () => {} }).catch(() => undefined);
  operation.release();
  return { view, written, ended };
}

it('[LLM-3] [OPS-7] a run that ends because access was revoked is a denied request', async () => {
  const { view, ended } = await run(async () => undefined);
  expect(view?.stop_reason).toBe('revoked');
  expect(ended).toMatchObject({ outcome: 'denied', code: 'unauthorized' });
});

it('[LLM-3] what the model answered is stored if the run breaks after it', async () => {
  let reads = 0;
  const { view, written, ended } = await run(async () => {
    if ((reads += 1) > 1) throw new Error('no database');
    return { caller: CALLER, visible: { servers: [] } };
  });
  expect([view, ended?.outcome]).toEqual([undefined, 'failed']);
  const { status, state } = written.at(-1) ?? {};
  expect(status).toBe('idle');
  expect(state).toMatchObject({
    stop: 'interrupted',
    spent: { steps: 1, inputTokens: 10, outputTokens: 5 },
    turn: [{ place: 'new', call: { name: 'read' } }],
    messages: [{ role: 'user' }, { role: 'assistant', text: 'I will look' }],
  });
});
