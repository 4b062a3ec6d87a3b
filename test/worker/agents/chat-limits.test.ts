/**
 * Chats of one principal by tokens with other limits: a chat holds results of tools, so it is visible only with the limits of its last run.
 */
import type { Caller } from '../../../src/access/policy/caller.ts';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { ChatRecords } from '../../../src/agents/chat/chat-records.ts';
import { BeginChatSchema, ContinueChatSchema } from '../../../src/agents/chat/chat-schema.ts';
import { ChatService } from '../../../src/agents/chat/chat-service.ts';
import type { ChatCaller, ToolPorts } from '../../../src/agents/chat/shown-tools.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { NO_TRACES } from '../../../src/tracing/tracer.ts';
import { createCaller } from '../../unit/access/callers.ts';
import { scriptedModel } from '../../unit/agents/scripted-chat.ts';

const tools = {
  gateway: { spend: async () => {} },
  naming: { kind: 'qualified', style: 'underscore' },
  listForModel: async () => ({ tools: [], items: new Map() }),
  runCalls: async () => [],
} as unknown as ToolPorts;
const NO_TOOLS = { names: new Map(), tools: [], warnings: [] };
const model = scriptedModel([{ text: 'the secret of the hidden server' }]);
const dialect = { ...model.dialect, toTools: () => NO_TOOLS } as unknown as typeof model.dialect;
const chats = new ChatService({
  records: new ChatRecords({
    db: env.DB,
    keys: createKeyRing(env.PORTICO_KEYS),
    keptMs: 3_600_000,
    maxKept: 9,
    now: () => Date.now(),
  }),
  settings: {
    limits: { steps: 3, calls: 3, tokens: 9_999, seconds: 60, costUsd: undefined },
    approval: 'never',
    keptMs: 3_600_000,
    maxKept: 9,
  },
  model: { ...model, dialect },
  tools,
  tracer: NO_TRACES,
  now: () => Date.now(),
});

const wide = createCaller();
const narrow = createCaller({ servers: ['b', 'a'] });
/** The same limits as another token has. */
const equal = createCaller({ servers: ['a', 'b'] });
const other = createCaller({ tools: ['a.*'] });

const askerOf = (caller: Caller): ChatCaller => ({
  caller,
  visible: { servers: [] },
  source: 'rest',
  signal: new AbortController().signal,
  origin: undefined,
  traceparent: undefined,
  rights: async () => ({ caller, visible: { servers: [] } }),
  waitUntil: () => undefined,
});

async function begin(caller: Caller): Promise<string> {
  const ready = await chats.begin(askerOf(caller), BeginChatSchema.parse({ message: 'Hello' }));
  await ready.run({ onEvent: () => undefined, isStreamed: false });
  return ready.id;
}
async function proceed(caller: Caller, id: string): Promise<void> {
  const input = ContinueChatSchema.parse({ message: 'Go on' });
  const ready = await chats.continue(askerOf(caller), id, input);
  await ready.run({ onEvent: () => undefined, isStreamed: false });
}

const UNKNOWN = { code: 'not_found', message: 'No such chat' };

describe('a chat', () => {
  it('[ACC-9] [LLM-3] of a token without limits is invisible to one with limits, whatever that does', async () => {
    const id = await begin(wide);
    expect((await chats.get(askerOf(wide), id)).answer).toContain('the secret');
    for (const caller of [narrow, other]) {
      await expect(chats.get(askerOf(caller), id)).rejects.toMatchObject(UNKNOWN);
      await expect(chats.stop(askerOf(caller), id)).rejects.toMatchObject(UNKNOWN);
      await expect(chats.delete(askerOf(caller), id)).rejects.toMatchObject(UNKNOWN);
      await expect(proceed(caller, id)).rejects.toMatchObject(UNKNOWN);
    }
    expect((await chats.get(askerOf(wide), id)).status).toBe('idle');
  });

  it('[ACC-9] [LLM-3] of a token with limits is visible with equal limits, and without limits', async () => {
    const id = await begin(narrow);
    for (const caller of [narrow, equal, wide])
      expect((await chats.get(askerOf(caller), id)).answer).toContain('the secret');
    await expect(chats.get(askerOf(other), id)).rejects.toMatchObject(UNKNOWN);
    await proceed(equal, id);
    expect((await chats.stop(askerOf(narrow), id)).status).toBe('idle');
    await expect(chats.delete(askerOf(other), id)).rejects.toMatchObject(UNKNOWN);
    await chats.delete(askerOf(equal), id);
    await expect(chats.get(askerOf(narrow), id)).rejects.toMatchObject(UNKNOWN);
  });

  it('[ACC-9] [LLM-3] that a wider token continued is no longer visible to the narrow one', async () => {
    const id = await begin(narrow);
    await proceed(wide, id);
    await expect(chats.get(askerOf(narrow), id)).rejects.toMatchObject(UNKNOWN);
    expect((await chats.get(askerOf(wide), id)).status).toBe('idle');
  });
});
