/** Each provider's wire format, with a fake model that refuses what the real one refuses: a conversation with calls, whole and streamed. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TurnReply, TurnRequest } from '../../../src/models/formats/dialect.ts';
import type {
  CanonicalMessage,
  CanonicalTool,
} from '../../../src/models/formats/canonical-form.ts';
import { createHttpChat } from '../../../src/models/http-chat.ts';
import { createWireModel, MODEL_KEY, WIRES, type Wire } from '../../fixtures/model-wires.ts';

const TOOLS: CanonicalTool[] = [
  {
    name: 'files__read',
    description: 'Reads a file',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, lines: { type: 'integer' } },
      required: ['path'],
    },
  },
  { name: 'clock__now', inputSchema: { type: 'object' } },
];
const attempt = () => ({
  signal: AbortSignal.timeout(60_000),
  onSign: () => {},
  onHandedOn: () => {},
});

function connect({ api, fake, url, model }: Wire) {
  const answering = createWireModel(fake);
  vi.stubGlobal('fetch', answering.fetch);
  const chat = createHttpChat({
    api,
    url,
    model,
    embedModel: 'vectors',
    findKey: () => Promise.resolve(MODEL_KEY),
  });
  return { ...answering, chat };
}
afterEach(() => vi.unstubAllGlobals());

describe.each(WIRES)('a model that speaks $name', compose => {
  const tools = compose.api.dialect.toTools(TOOLS, { strict: true });

  it.each([
    ['streamed', true],
    ['whole', false],
  ])('[LLM-1] [LLM-3] calls in parallel, gets the results, and answers: %s', async (_, streams) => {
    const { chat, give, requests, problems } = connect(compose);
    await give({
      turns: [
        {
          thought: 'First I read.',
          text: 'Grüße 😀: "I look"',
          calls: [
            { name: 'files__read', arguments: { path: 'ä/b.txt\n"c"', lines: 3 } },
            { name: 'clock__now', arguments: {} },
          ],
          tokens: { input: 11, output: 7 },
        },
        { text: 'Done, 😀.' },
      ],
    });
    const heard: string[] = [];
    const ask = async (messages: CanonicalMessage[]): Promise<TurnReply> => {
      const request: TurnRequest = { system: 'Be brief.', messages, tools, maxTokens: 100 };
      return chat.chat(request, attempt(), streams ? text => void heard.push(text) : undefined);
    };
    const messages: CanonicalMessage[] = [{ role: 'user', text: 'What is in it?' }];
    const first = await ask(messages);
    expect(first).toMatchObject({
      text: 'Grüße 😀: "I look"',
      stop: 'calls',
      tokens: { input: 11, output: 7 },
      calls: [{ name: 'files__read' }, { name: 'clock__now' }],
    });
    const given = first.calls.map(call => tools.toArguments(call.name, call.arguments ?? {}));
    expect(given).toEqual([{ path: 'ä/b.txt\n"c"', lines: 3 }, {}]);
    expect(new Set(first.calls.map(({ id }) => id)).size).toBe(2);
    const { text, calls, raw } = first;
    const second = await ask([
      ...messages,
      { role: 'assistant', text, calls, raw },
      {
        role: 'tools',
        results: calls.map(({ id, name }, i) => ({
          id,
          name,
          result: { content: [{ type: 'text', text: `result ${i}` }], isError: i === 1 },
        })),
      },
    ]);
    expect(second).toMatchObject({ text: 'Done, 😀.', stop: 'end', calls: [] });
    expect(await problems()).toEqual([]);
    expect([heard.join(''), heard.length > 5]).toEqual(
      streams ? ['Grüße 😀: "I look"Done, 😀.', true] : ['', false],
    );
    const sent = JSON.stringify((await requests())[1]);
    expect(sent).toContain('result 0');
    expect(sent).toContain('result 1');
  });

  it.each([
    ['streamed', true],
    ['whole', false],
  ])('[LLM-2] writes invalid JSON, is cut for length, or refuses: %s', async (_, streams) => {
    const { chat, give, problems } = connect(compose);
    const ask = (): Promise<TurnReply> =>
      chat.chat(
        { system: '', messages: [{ role: 'user', text: 'Go' }], tools, maxTokens: 100 },
        attempt(),
        streams ? () => {} : undefined,
      );
    await give({
      turns: [
        { calls: [{ name: 'files__read', raw: '{"path": "a' }] },
        { text: 'so far', stop: 'length' },
        { text: 'I must not', stop: 'refused' },
      ],
    });
    // Google reports a call with invalid JSON beside the answer, so there is no call to answer.
    const { calls, problem } = await ask();
    expect([calls[0]?.arguments, calls.length]).toEqual([
      undefined,
      compose.name === 'gemini' ? 0 : 1,
    ]);
    expect(calls[0]?.problem ?? problem).toMatch(/not valid JSON|could not be read/);
    expect(await ask()).toMatchObject({ text: 'so far', stop: 'length' });
    expect(await ask()).toMatchObject({ stop: 'refused' });
    expect(await problems()).toEqual([]);
  });

  it('[LLM-4] must answer in the requested form', async () => {
    const { chat, give, requests, problems } = connect(compose);
    await give({ turns: [{ text: '{"colour":"red"}' }] });
    const schema = {
      type: 'object',
      properties: { colour: { type: 'string' }, why: { type: 'string' } },
      required: ['colour'],
    };
    const reply = await chat.chat(
      {
        system: 's',
        messages: [{ role: 'user', text: 'u' }],
        answer: { name: 'paint', schema },
        maxTokens: 100,
      },
      attempt(),
    );
    expect(reply.text).toBe('{"colour":"red"}');
    expect(await problems()).toEqual([]);
    expect(JSON.stringify((await requests())[0])).toContain('"colour"');
  });

  it('[LLM-3] returns vectors if its API has them', async () => {
    const { chat } = connect(compose);
    const vectors = await chat.embed?.of(['one two', 'one two', 'three'], attempt());
    const texts = vectors?.map(vector => JSON.stringify(vector));
    expect([texts?.length, new Set(texts).size]).toEqual(
      compose.name === 'anthropic' ? [undefined, 0] : [3, 2],
    );
  });
});
