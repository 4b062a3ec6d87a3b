/**
 * The loop with each provider's wire format, streamed and not (Show 3): a task of several steps over two servers, and models that loop for
 * ever, call in parallel, write broken JSON and invent tools. The models are real servers that refuse what the real APIs would refuse.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopAllFixtures, type Upstream } from '../../fixtures/start-fixture.ts';
import type { Script } from '../../fixtures/model-script.ts';
import { addDemo, PROVIDERS, startChats, type ChatGateway } from '../support/chat-gateway.ts';

/** Searches a document, reads it, looks at the tickets of another server, answers. */
const TASK: Script = {
  turns: [
    {
      text: 'I look for it. ',
      calls: [
        { name: 'documents__search_documents', arguments: { query: 'handbook für Vorfälle 😀' } },
      ],
    },
    { calls: [{ name: 'documents__fetch_document', arguments: { id: 'doc-2' } }] },
    { calls: [{ name: 'tickets__search_tickets', arguments: { query: 'vpn', state: 'open' } }] },
    { text: 'Page the officer on duty; INC-1002 is open. Grüße 😀' },
  ],
};
const message = 'What does the handbook say of incidents, and which ticket is about the VPN?';

/** One cent per token. */
const PRICES = { PORTICO_MODEL_PRICE_INPUT: '10000', PORTICO_MODEL_PRICE_OUTPUT: '10000' };

describe.each(PROVIDERS)('a model that speaks $api', provider => {
  let chats: ChatGateway;
  let upstreams: Record<string, Upstream>;

  beforeAll(async () => {
    chats = await startChats(provider, { env: PRICES });
    upstreams = await addDemo(chats, ['documents', 'tickets']);
  });
  afterAll(async () => {
    await chats?.stop();
    await stopAllFixtures();
  });

  const callsOf = async (name: string) => (await upstreams[name]?.counters())?.['calls'] ?? 0;

  it('[LLM-3] solves a task of several steps over two servers', async () => {
    await chats.script(TASK);
    const before = (await callsOf('documents')) + (await callsOf('tickets'));
    const chat = await chats.chat({ message });
    expect(await chats.problems()).toEqual([]);
    expect(chat).toMatchObject({ status: 'idle', stop_reason: 'answered', steps: 4 });
    expect(chat.answer).toBe('Page the officer on duty; INC-1002 is open. Grüße 😀');
    expect(chat.calls.map(({ name, is_error: isError }) => [name, isError])).toEqual([
      ['documents.search_documents', false],
      ['documents.fetch_document', false],
      ['tickets.search_tickets', false],
    ]);
    expect((await callsOf('documents')) + (await callsOf('tickets')) - before).toBe(3);
    expect(chat.usage.input_tokens).toBeGreaterThan(100);
    const asked = await chats.requests();
    expect(asked).toHaveLength(4);
    expect(JSON.stringify(asked[2])).toContain('Page the officer on duty first');
    expect(JSON.stringify(asked[3])).toContain('INC-1002');
  });

  it('[LLM-3] solves it streamed, and reports each step as it happens', async () => {
    await chats.script(TASK);
    const { events, chat } = await chats.stream({ message });
    expect(await chats.problems()).toEqual([]);
    expect(chat).toMatchObject({ stop_reason: 'answered', steps: 4 });
    const texts = events.flatMap(event => (event.type === 'text' ? [event.text] : []));
    expect(texts.join('')).toBe(`I look for it. ${chat.answer}`);
    expect(texts.length).toBeGreaterThan(5);
    const told = events.filter(({ type }) => type !== 'text').map(({ type }) => type);
    const step = ['call', 'result'];
    expect(told).toEqual(['chat', ...step, ...step, ...step, 'done']);
    const [search] = chat.calls;
    expect(search?.arguments).toEqual({ query: 'handbook für Vorfälle 😀' });
  });

  it('[LLM-3] stops at its cost limit, and continues when it may cost more', async () => {
    const search = { name: 'documents__search_documents', arguments: { query: 'vpn' } };
    const turn = { calls: [search], tokens: { input: 10_000, output: 100 } };
    await chats.script({ turns: [turn], repeat: 'last' });
    // Covers two questions, but not a third.
    const limits = { cost_usd: 202.05 };
    const chat = await chats.chat({ message, limits });
    expect(chat).toMatchObject({ stop_reason: 'cost', steps: 2, usage: { cost_usd: 202 } });
    expect(await chats.requests()).toHaveLength(2);
    const more = await chats.chat({ limits: { cost_usd: 303.05 } }, chat.id);
    expect(more.stop_reason).toBe('cost');
    expect((await chats.requests()).length).toBeGreaterThan(2);
  });

  it('[LLM-3] continues the conversation', async () => {
    await chats.script(TASK);
    const { chat: first } = await chats.stream({ message });
    await chats.script({ turns: [{ text: 'Since this morning.' }] });
    const chat = await chats.chat({ message: 'Since when?' }, first.id);
    expect(await chats.problems()).toEqual([]);
    expect(chat).toMatchObject({
      id: first.id,
      answer: 'Since this morning.',
      steps: 1,
      calls: [],
    });
    const [asked] = await chats.requests();
    expect(JSON.stringify(asked)).toContain('Page the officer on duty first');
  });

  it('[LLM-3] stops a model that loops for ever', async () => {
    const calls = [{ name: 'tickets__get_ticket', arguments: { number: 'INC-1001' } }];
    await chats.script({ turns: [{ text: 'Once more. ', calls }], repeat: 'last' });
    const before = await callsOf('tickets');
    const { chat } = await chats.stream({ message, limits: { steps: 5 } });
    expect(chat).toMatchObject({ status: 'idle', stop_reason: 'steps', steps: 5 });
    expect(await chats.requests()).toHaveLength(5);
    expect((await callsOf('tickets')) - before).toBe(5);
    await chats.script({ turns: [{ calls: [...calls, ...calls, ...calls] }], repeat: 'last' });
    const held = await chats.chat({ message, limits: { calls: 4 } });
    expect(held).toMatchObject({ stop_reason: 'calls', steps: 2 });
    expect(held.calls.map(({ decision }) => decision)).toEqual([
      ...Array.from({ length: 4 }, () => 'allowed'),
      'over_bound',
      'over_bound',
    ]);
    expect((await callsOf('tickets')) - before).toBe(9);
    // The conversation, which continues, contains the results of the calls beyond the limit.
    await chats.script({ turns: [{ text: 'Enough.' }] });
    expect((await chats.chat({ message: 'Stop it.' }, held.id)).answer).toBe('Enough.');
    expect(await chats.problems()).toEqual([]);
  });

  it('[LLM-3] answers parallel calls, broken JSON, unknown tools and wrong arguments one by one', async () => {
    const calls = [
      { name: 'documents__fetch_document', arguments: { id: 'doc-1' } },
      ...(provider.api === 'gemini'
        ? []
        : [{ name: 'documents__fetch_document', raw: '{"id": "doc-2"' }]),
      { name: 'documents__burn', arguments: {} },
      { name: 'tickets__get_ticket', arguments: { number: 'INC-1003' } },
      { name: 'tickets__get_ticket', arguments: { number: 'INC-9999' } },
    ];
    await chats.script({ turns: [{ calls }, { text: 'I see.' }] });
    const before = (await callsOf('documents')) + (await callsOf('tickets'));
    const { chat } = await chats.stream({ message });
    expect(await chats.problems()).toEqual([]);
    expect(chat).toMatchObject({ stop_reason: 'answered', answer: 'I see.' });
    const seen = chat.calls.map(({ decision, is_error: isError }) => [decision, isError]);
    const unreadable = provider.api === 'gemini' ? [] : [['unusable', true]];
    expect(seen).toEqual([
      ['allowed', false],
      ...unreadable,
      ['unusable', true],
      ['allowed', false],
      ['allowed', true],
    ]);
    expect((await callsOf('documents')) + (await callsOf('tickets')) - before).toBe(3);
    const told = JSON.stringify((await chats.requests())[1]);
    expect(told).toContain('Meals are refunded');
    expect(told).toContain('There is no ticket INC-9999');
    expect(told).toContain('There is no tool documents__burn');
  });

  it('[LLM-3] continues after an unreadable call and tells the model so once', async () => {
    const broken = { calls: [{ name: 'documents__fetch_document', raw: '{' }] };
    await chats.script({ turns: [broken, { text: 'Again.' }] });
    const chat = await chats.chat({ message });
    expect(chat).toMatchObject({ stop_reason: 'answered', answer: 'Again.' });
    expect(chat.steps).toBe(2);
    expect(await chats.problems()).toEqual([]);
    const [, again, ...more] = await chats.requests();
    expect(more).toEqual([]);
    // If the API itself reports a malformed call, there is no call to answer: the model is told in a message beside it.
    const told =
      provider.api === 'gemini' ? 'Malformed function call: documents__' : 'not valid JSON';
    expect(JSON.stringify(again)).toContain(told);
  });

  // The call at which the turn was cut: its arguments had not begun. Gemini sends calls only whole.
  const half = provider.api === 'gemini' ? { arguments: {} } : { raw: '' };
  const calls = [
    { name: 'documents__fetch_document', arguments: { id: 'doc-1' } },
    { name: 'tickets__search_tickets', ...half },
  ];

  it.each([
    ['streamed', true],
    ['whole', false],
  ])('[LLM-3] makes no call of a turn that was cut for length: %s', async (_, isStreamed) => {
    await chats.script({ turns: [{ text: 'So ', calls, stop: 'length' }, { text: 'I see.' }] });
    const before = (await callsOf('documents')) + (await callsOf('tickets'));
    const told = isStreamed ? await chats.stream({ message }) : undefined;
    const chat = told?.chat ?? (await chats.chat({ message }));
    expect(chat).toMatchObject({ status: 'idle', stop_reason: 'length', steps: 1 });
    const unmade = { decision: 'not_made', arguments: null, is_error: true };
    expect(chat.calls).toMatchObject([
      { name: 'documents.fetch_document', ...unmade },
      { name: 'tickets.search_tickets', ...unmade },
    ]);
    const events = told?.events.filter(({ type }) => type === 'call') ?? [];
    expect(events).toEqual(isStreamed ? chat.calls.map(call => ({ type: 'call', call })) : []);
    // Continuing asks the model again and tells it why.
    const more = await chats.chat({}, chat.id);
    expect(more).toMatchObject({ stop_reason: 'answered', answer: 'I see.', calls: [] });
    const [, again] = await chats.requests();
    expect(JSON.stringify(again)).toContain('none of the calls in it was made');
    expect(await chats.problems()).toEqual([]);
    expect((await callsOf('documents')) + (await callsOf('tickets'))).toBe(before);
  });

  it('[LLM-3] makes no call of a broken stream, and continues where it was', async () => {
    const turns: Script['turns'] = [{ text: 'So it is ', calls, stop: 'failed' }];
    await chats.script({ turns: [...turns, { text: 'I see.' }] });
    const before = (await callsOf('documents')) + (await callsOf('tickets'));
    const { chat } = await chats.stream({ message });
    expect(chat).toMatchObject({ stop_reason: 'interrupted', problem: expect.any(String) });
    expect(chat.calls.every(({ decision }) => decision === 'not_made')).toBe(true);
    const more = await chats.chat({}, chat.id);
    expect(more).toMatchObject({ stop_reason: 'answered', answer: 'I see.' });
    expect(await chats.problems()).toEqual([]);
    expect((await callsOf('documents')) + (await callsOf('tickets'))).toBe(before);
  });
});
