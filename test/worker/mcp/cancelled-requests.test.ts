/** Server requests that their server cancels: the call that relays them keeps nothing of them. */
import { afterEach, expect, it, vi } from 'vitest';
import { relayTexts } from '../../../src/mcp/reply/relay-messages.ts';
import { openChannel } from '../../../src/sessions/question-channel.ts';
import type { CallMessages } from '../../../src/upstream/protocol/call.ts';
import type { Question } from '../../../src/upstream/protocol/server-request.ts';

afterEach(() => void vi.useRealTimers());

/** The messages of a call whose server makes requests and cancels each. */
async function* cancelling(count: number): CallMessages {
  for (let i = 0; i < count; i += 1) {
    const question: Question = {
      kind: 'question',
      method: 'elicitation/create',
      params: '{}',
      answer: async () => {},
    };
    yield question;
    yield { kind: 'cancellation', of: question, params: '{}' };
  }
  yield { kind: 'response', result: '{}', parsed: {} };
}

it('[SEC-4] [MCP-5] no answer to them is awaited', async () => {
  vi.useFakeTimers();
  const readyState = WebSocket.OPEN;
  const webSocket = { accept() {}, addEventListener() {}, close() {}, readyState };
  const object = { fetch: async () => ({ webSocket }) as unknown as Response };
  const texts = relayTexts({
    routed: {
      server: { name: 's' },
      reply: { messages: cancelling(50) },
      retry: () => Promise.reject(new Error('not called')),
    },
    openChannel: () => openChannel(object, 60_000),
    capabilities: { elicitation: {} },
    toText: () => 'response',
  });
  let most = 0;
  const methods: unknown[] = [];
  for await (const text of texts) {
    most = Math.max(most, vi.getTimerCount());
    if (text !== 'response') methods.push((JSON.parse(text) as { method: string }).method);
  }
  expect(most).toBe(1);
  expect(methods.slice(0, 2)).toEqual(['elicitation/create', 'notifications/cancelled']);
  expect(methods).toHaveLength(100);
});
