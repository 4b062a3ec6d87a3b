/** Writing a chat while the database fails for a moment. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { ChatRecords } from '../../../src/agents/chat/chat-records.ts';
import { NOTHING_SPENT, type ChatState } from '../../../src/agents/chat/chat-state.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';

afterEach(() => vi.restoreAllMocks());

const STATE: ChatState = {
  version: 1,
  format: 'anthropic',
  model: 'm',
  messages: [],
  turn: [],
  log: [],
  lastCall: 0,
  spent: NOTHING_SPENT,
  limits: { steps: 1, calls: 1, seconds: 1, tokens: 1 },
  approve: 'none',
  only: {},
  answer: '',
} as unknown as ChatState;

it('[LLM-3] the answer of a run is stored by the second attempt', async () => {
  const records = new ChatRecords({
    db: env.DB,
    keys: createKeyRing(env.PORTICO_KEYS),
    keptMs: 60_000,
    maxKept: 10,
    now: () => Date.now(),
  });
  const claim = await records.create('failing-writes', STATE);
  if (!claim) throw new Error('not created');
  const prepare = env.DB.prepare.bind(env.DB);
  let failures = 0;
  vi.spyOn(env.DB, 'prepare').mockImplementation(sql => {
    if (failures === 0 && sql.includes('UPDATE chats SET sealed')) {
      failures += 1;
      throw new Error('no database');
    }
    return prepare(sql);
  });
  expect(await records.write(claim, 'idle', { ...STATE, answer: 'done' })).toBe(true);
  expect(failures).toBe(1);
  const found = await records.find('failing-writes', claim.id);
  expect([found?.row.status, found?.state.answer]).toEqual(['idle', 'done']);
});
