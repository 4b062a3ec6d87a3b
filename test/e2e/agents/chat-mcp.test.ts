/**
 * The tool `chat` of an endpoint with `?tools=chat` (LLM-3): a form asks a person before something is changed, with the SDKs' own clients
 * in both eras. A client that cannot be asked, or that decides nothing, gets the list of waiting calls.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { addDemo, OPENAI, startChats, type ChatGateway } from '../support/chat-gateway.ts';
import { callModern, chatUrl, people, viewOf, withHttp1 } from '../support/chat-people.ts';
import { open, openModern, resultOf, textOf, type Target } from '../support/raw-client.ts';

const message = 'Close the ticket about the printer.';
const search = { name: 'tickets__search_tickets', arguments: { query: 'printer' } };
const close = (number: string) => ({ name: 'tickets__close_ticket', arguments: { number } });

let chats: ChatGateway;
let upstreams: Record<string, Upstream>;
let target: Target;

beforeAll(async () => {
  chats = await startChats(OPENAI, { env: { PORTICO_CHAT_APPROVAL: 'writes' } });
  upstreams = await addDemo(chats, ['tickets']);
  target = { url: String(chatUrl(chats.gateway)), token: chats.gateway.adminToken };
});
afterAll(() => chats?.stop());

const closed = async () => (await upstreams['tickets']?.counters())?.['close_ticket'] ?? 0;

describe.each(people)('%s', (_name, connect) => {
  it('[LLM-3] sees one tool, is asked by a form before a call is sent, and an allowed call is made once', async () => {
    const person = await connect(chats.gateway, () => ({
      action: 'accept',
      content: { call_2: true },
    }));
    expect(await person.names()).toEqual(['chat']);
    await chats.script({
      turns: [{ calls: [search, close('INC-1001')] }, { text: 'Closed INC-1001.' }],
    });
    const before = await closed();
    const chat = await person.chat({ message });
    expect(chat).toMatchObject({
      status: 'idle',
      stop_reason: 'answered',
      answer: 'Closed INC-1001.',
    });
    expect(chat.calls.map(({ decision }) => decision)).toEqual(['allowed', 'approved']);
    expect((await closed()) - before).toBe(1);
    const [form] = person.forms;
    expect(person.forms).toHaveLength(1);
    expect(form?.message).toContain('call_2: tickets.close_ticket {"number":"INC-1001"}');
    expect(form?.message).not.toContain('search_tickets');
    expect(Object.keys(form?.requestedSchema.properties ?? {})).toEqual(['call_2']);
    expect(person.heard).toContain('calls tickets.search_tickets');
    expect(await chats.problems()).toEqual([]);
    // The chat continues under its id, and a person is asked each time.
    await chats.script({ turns: [{ calls: [close('INC-1002')] }, { text: 'No.' }] });
    const more = await person.chat({ message: 'And the other?', chat_id: chat.id });
    expect(more).toMatchObject({ id: chat.id, stop_reason: 'answered', answer: 'No.' });
    expect(more.calls.map(({ decision }) => decision)).toEqual(['refused']);
    expect((await closed()) - before).toBe(1);
    await person.close();
  });

  it('[LLM-3] that declines prevents the call; a client that closes the form leaves the call undecided', async () => {
    const turns = [{ calls: [close('INC-1002')] }, { text: 'As you wish.' }];
    const before = await closed();
    const declining = await connect(chats.gateway, () => ({ action: 'decline' }));
    await chats.script({ turns });
    expect(await declining.chat({ message })).toMatchObject({ answer: 'As you wish.' });
    expect(JSON.stringify((await chats.requests())[1])).toContain('This call was not made');
    const closing = await connect(chats.gateway, () => ({ action: 'cancel' }));
    await chats.script({ turns });
    const chat = await closing.chat({ message });
    expect(chat).toMatchObject({ status: 'waiting', stop_reason: 'approval' });
    expect(chat.pending).toMatchObject([{ id: 'call_1', name: 'tickets.close_ticket' }]);
    expect((await closed()) - before).toBe(0);
    // The call waits for any decision, also one made elsewhere.
    const decisions = [{ call_id: 'call_1', approve: true }];
    expect(await chats.chat({ decisions }, chat.id)).toMatchObject({ answer: 'As you wish.' });
    expect((await closed()) - before).toBe(1);
    await Promise.all([declining.close(), closing.close()]);
  });
});

describe('a client that cannot be asked', () => {
  it.each(['legacy', 'modern'] as const)('[LLM-3] a %s client gets the pending call', async era => {
    const client = await open(era, target);
    await chats.script({ turns: [{ calls: [close('INC-1001')] }] });
    const before = await closed();
    const result = resultOf(await client.call('chat', { message }));
    expect(result.isError).toBe(false);
    expect(viewOf(result)).toMatchObject({
      status: 'waiting',
      pending: [{ id: 'call_1', arguments: { number: 'INC-1001' }, decision: 'waiting' }],
    });
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result['structuredContent']);
    expect((await closed()) - before).toBe(0);
  });

  it.each(['legacy', 'modern'] as const)(
    '[LLM-3] a %s client is told which calls of a truncated answer were not made, and nobody is asked',
    async era => {
      const client = await open(era, target);
      await chats.script({ turns: [{ calls: [close('INC-1001')], stop: 'length' }] });
      const before = await closed();
      const result = resultOf(await client.call('chat', { message }));
      expect(result.isError).toBe(true);
      const unmade = { name: 'tickets.close_ticket', decision: 'not_made', arguments: null };
      expect(viewOf(result)).toMatchObject({ stop_reason: 'length', calls: [unmade] });
      expect(viewOf(result)).not.toHaveProperty('pending');
      expect((await closed()) - before).toBe(0);
    },
  );

  it('[LLM-3] a client that fails to answer, or that can only open pages, is told which call waits', async () => {
    await chats.script({ turns: [{ calls: [close('INC-1001')] }], repeat: 'last' });
    const failing = await withHttp1(chats.gateway, () => {
      throw new Error('no screen');
    });
    expect(await failing.chat({ message })).toMatchObject({ status: 'waiting' });
    expect(failing.forms).toHaveLength(1);
    await failing.close();
    const answer = await callModern(target, { message }, { elicitation: { url: {} } });
    expect(viewOf(resultOf(answer))).toMatchObject({ status: 'waiting' });
  });

  it('[LLM-3] errors are worded so that a model can use them', async () => {
    const client = openModern(target);
    for (const [given, said] of [
      [{}, 'chat: message'],
      [{ message, decisions: [] }, 'Unrecognized key'],
      [{ message, chat_id: crypto.randomUUID() }, 'No such chat'],
    ] as const) {
      const answer = await client.call('chat', given);
      expect(resultOf(answer).isError).toBe(true);
      expect(textOf(answer)).toContain(said);
    }
  });
});
