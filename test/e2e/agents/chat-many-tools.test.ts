/**
 * A chat with more tools than a model may be shown (LLM-3): it shows those that match the last message, and those that it has called
 * already.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import {
  addDemo,
  addServer,
  OPENAI,
  startChats,
  type ChatGateway,
} from '../support/chat-gateway.ts';

const TOOLS = 200;
/** The most tools shown to a model (`agents/chat/shown-tools.ts`). */
const MOST_SHOWN = 128;

let chats: ChatGateway;
let many: Upstream;

beforeAll(async () => {
  chats = await startChats(OPENAI);
  many = await startFixture('many-tools', { tools: TOOLS });
  await addServer(chats, 'many', `${many.origin}/mcp`);
  await addDemo(chats, ['tickets']);
});
afterAll(() => chats?.stop());

/** Returns the names of the tools in each request to the model. */
async function shown(): Promise<string[][]> {
  const requests = await chats.requests();
  return requests.map(({ tools }) =>
    (tools as { function: { name: string } }[]).map(tool => tool.function.name),
  );
}

it('[LLM-3] shows the tools that match the last message and those already called, and calls no other tool', async () => {
  const found = 'many__tool-0137';
  const other = 'many__tool-0199';
  await chats.script({
    turns: [{ calls: [{ name: found }, { name: other }] }, { text: 'Used.' }],
  });
  const chat = await chats.chat({ message: 'Use tool number 137' });
  expect(chat.calls.map(({ name, decision }) => [name, decision])).toEqual([
    ['many.tool-0137', 'allowed'],
    [other, 'unusable'],
  ]);
  const [first = []] = await shown();
  expect(first).toContain(found);
  expect(first).not.toContain(other);
  expect(first.length).toBeLessThanOrEqual(MOST_SHOWN);
  await chats.script({ turns: [{ text: 'There is a ticket.' }] });
  await chats.chat({ message: 'Which ticket is about the printer?' }, chat.id);
  const [second = []] = await shown();
  expect(second).toContain('tickets__search_tickets');
  expect(second).toContain(found);
  expect(second.length).toBeLessThanOrEqual(MOST_SHOWN);
  expect(await chats.problems()).toEqual([]);
});
