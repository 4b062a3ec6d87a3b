/** Questions of servers in each cell: what the client is asked, what the server is answered, and cancelled questions. */
import { expect } from 'vitest';
import { until } from '../../../fixtures/start-fixture.ts';
import { UNANSWERED } from './clients.ts';
import { eachCell, textOf } from './stand.ts';
import type { Place } from './stand.ts';

const methodsOf = ({ client }: Place) => client.asked.map(({ method }) => method);

eachCell('[MCP-4] [MCP-5] {sampling/createMessage: * > *} is answered', async cell => {
  const text = textOf(await cell.call(cell.of('test_sampling'), { prompt: 'say ü' }));
  expect(text).toContain(`sampled by ${cell.client.kind}`);
  expect(cell.client.asked).toMatchObject([
    {
      method: 'sampling/createMessage',
      params: {
        messages: [{ role: 'user', content: { type: 'text', text: 'say ü' } }],
        maxTokens: 100,
      },
    },
  ]);
});

eachCell('[MCP-4] [MCP-5] {elicitation/create, form: * > *} is filled in', async cell => {
  const text = textOf(await cell.call(cell.of('test_elicitation'), { message: 'who?' }));
  expect(text).toContain('action=accept');
  expect(text).toContain(`"username":"${cell.client.kind}"`);
  expect(cell.client.asked).toMatchObject([
    {
      method: 'elicitation/create',
      params: { message: 'who?', requestedSchema: { required: ['username', 'email'] } },
    },
  ]);
});

eachCell('[MCP-4] [MCP-5] {elicitation/create, URL: * > *} names the page', async cell => {
  const text = textOf(await cell.call(cell.of('test_elicitation_url')));
  expect(text).toContain('action=accept');
  expect(cell.client.asked).toMatchObject([
    {
      method: 'elicitation/create',
      params: {
        mode: 'url',
        message: 'Please open this page',
        url: 'https://example.com/confirm',
      },
    },
  ]);
});

eachCell('[MCP-4] [MCP-5] {roots/list: * > *} is answered', async cell => {
  const tool = cell.of('test_input_required_result_list_roots');
  expect(textOf(await cell.call(tool))).toBe('1 root(s)');
  expect(methodsOf(cell)).toEqual(['roots/list']);
});

eachCell('[MCP-4] [MCP-5] {several questions at once: * > *} are each answered', async cell => {
  const { kind } = cell.client;
  const tool = cell.of('test_input_required_result_multiple_inputs');
  expect(textOf(await cell.call(tool))).toBe(`sampled by ${kind} ${kind}, 1 root(s)`);
  expect(methodsOf(cell).toSorted()).toEqual([
    'elicitation/create',
    'roots/list',
    'sampling/createMessage',
  ]);
});

eachCell('[MCP-4] [MCP-5] {multi round-trip requests: * > *} go through all rounds', async cell => {
  const { kind } = cell.client;
  const tool = cell.of('test_input_required_result_multi_round');
  expect(textOf(await cell.call(tool))).toBe(`${kind} likes ${kind}`);
  expect(cell.client.asked.map(({ params }) => params['message'])).toEqual([
    'Step 1: What is your name?',
    'Step 2: What is your favorite color?',
  ]);
});

eachCell(
  '[MCP-4] {cancellation by the server: legacy, sse > legacy, sse, stdio} cancels its question',
  async cell => {
    expect(textOf(await cell.call(cell.rich('withdraw')))).toBe('taken back');
    expect(JSON.stringify(cell.client.asked)).toContain(UNANSWERED);
    await until('the client heard', 60_000, async () =>
      cell.client.asked[0]?.takenBack ? true : undefined,
    );
    // The gateway assigns the ids of questions, so this cancels no other question.
    const id = cell.client.heard.find(({ method }) => method === 'sampling/createMessage')?.id;
    const cancelled = cell.client.heard.filter(
      ({ method }) => method === 'notifications/cancelled',
    );
    expect(cancelled.map(({ params }) => params)).toEqual([
      { requestId: id, reason: expect.stringContaining('timeout') },
    ]);
  },
);

eachCell(
  '[MCP-4] {notifications/elicitation/complete: legacy, sse > legacy, sse, stdio} arrives',
  async cell => {
    const id = `page of ${cell.upstream}`;
    expect(textOf(await cell.call(cell.rich('tell-end'), { id }))).toBe('told');
    const heard = cell.client.heard.filter(
      ({ method }) => method === 'notifications/elicitation/complete',
    );
    expect(heard.map(({ params }) => params?.['elicitationId'])).toEqual([id]);
  },
);
