/** Server requests of a call whose channel to the client's object closes meanwhile. */
import { expect, it } from 'vitest';
import { relayTexts, type Relayed } from '../../../src/mcp/reply/relay-messages.ts';
import type { QuestionChannel } from '../../../src/sessions/question-channel.ts';
import type { CallMessage } from '../../../src/upstream/protocol/call.ts';
import type { RawAnswer } from '../../../src/upstream/protocol/server-request.ts';

it('[MCP-5] [MCP-12] are asked on another channel, since no answer comes on a closed one', async () => {
  const opened: { isOpen: boolean }[] = [];
  const open = async (): Promise<QuestionChannel> => {
    const number = opened.length + 1;
    const channel = {
      isOpen: true,
      ask: (method: string) => ({
        id: method,
        text: `${method} on ${number}`,
        answer: Promise.resolve<RawAnswer>({ result: `"${number}"` }),
        drop() {},
      }),
      close() {},
    };
    opened.push(channel);
    return channel;
  };
  const question = (method: string): CallMessage => {
    return { kind: 'question', method, params: '{}', answer: async () => {} };
  };
  async function* messages() {
    yield question('first');
    yield question('second');
    if (opened[0]) opened[0].isOpen = false;
    yield question('third');
    yield { kind: 'response' as const, result: '{}', parsed: {} };
  }
  const relayed = {
    routed: { reply: { messages: messages() } },
    openChannel: open,
    capabilities: { elicitation: {} },
    toText: () => 'done',
  } as unknown as Relayed;
  const texts: string[] = [];
  for await (const text of relayTexts(relayed)) texts.push(text);
  expect(texts).toEqual(['first on 1', 'second on 1', 'third on 2', 'done']);
});
