/** `POST /api/v1/tools/execute` with answers of models that were cut, filtered or broken off: none of their calls is made. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { createPortico, registerConnected } from '../support/portico.ts';

interface Executed {
  results: { id: string; is_error: boolean; result: object }[];
  messages: Record<string, unknown>[];
}

const portico = createPortico();
const files = new FakeServer({ tools: [toolOf('wipe')] });
beforeAll(async () => {
  serve({ files });
  await registerConnected(portico, 'files');
});
beforeEach(() => void serve({ files }));

async function execute(body: object) {
  const response = await portico.api('POST', '/api/v1/tools/execute', body);
  return { status: response.status, ...(await response.json<Executed>()) };
}
const chatCall = (id: string, name: string, given: string) => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});
const called = () => files.of('tools/call').length;

describe('the execution of an answer', () => {
  const CUT_TURNS: [string, string, object][] = [
    [
      'openai-chat',
      'length',
      {
        choices: [
          {
            message: { role: 'assistant', tool_calls: [chatCall('w', 'files__wipe', '')] },
            finish_reason: 'length',
          },
        ],
      },
    ],
    [
      'openai-responses',
      'refused',
      {
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
        output: [{ type: 'function_call', call_id: 'w', name: 'files__wipe', arguments: '{}' }],
      },
    ],
    [
      'anthropic',
      'interrupted',
      {
        content: [{ type: 'tool_use', id: 'w', name: 'files__wipe', input: {} }],
        stop_reason: 'a_reason_of_tomorrow',
      },
    ],
    [
      'gemini',
      'refused',
      {
        candidates: [
          {
            content: { parts: [{ functionCall: { id: 'w', name: 'files__wipe', args: {} } }] },
            finishReason: 'SAFETY',
          },
        ],
      },
    ],
  ];

  it.each(CUT_TURNS)(
    '[LLM-2] makes no call of an answer of %s that ended with %s, and says so',
    async (format, why, response) => {
      const before = called();
      const { status, results, messages } = await execute({ format, response });
      expect(status).toBe(200);
      expect(results).toMatchObject([
        { id: 'w', name: 'files__wipe', tool: 'files__wipe', is_error: true, not_made: why },
      ]);
      expect(JSON.stringify(messages)).toContain('not made');
      expect(called()).toBe(before);
    },
  );

  it('[LLM-2] treats missing arguments as none only if the answer is known to be complete', async () => {
    const message = { role: 'assistant', tool_calls: [chatCall('w', 'files__wipe', '')] };
    const before = called();
    const format = 'openai-chat';
    for (const body of [{ message }, { calls: message.tool_calls }]) {
      const { results } = await execute({ format, ...body });
      expect(results).toMatchObject([{ id: 'w', is_error: true }]);
      expect(JSON.stringify(results)).toContain('arguments are missing');
    }
    expect(called()).toBe(before);
    const choices = [{ message, finish_reason: 'tool_calls' }];
    const { results } = await execute({ format, response: { choices } });
    expect(results[0]?.is_error).toBe(false);
    expect(called()).toBe(before + 1);
  });
});

describe('an unusual call', () => {
  it('[LLM-2] that Gemini reports as malformed is refused with the reason', async () => {
    const finishMessage = 'Malformed function call: files__wipe(';
    const candidates = [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage }];
    const body = { format: 'gemini', response: { candidates } };
    const response = await portico.api('POST', '/api/v1/tools/execute', body);
    expect(response.status).toBe(422);
    const { detail } = await response.json<{ detail: string }>();
    expect(detail).toContain(`${finishMessage}. Tell the model so`);
  });

  it('[LLM-2] in the format of 2023 is executed, and its result has that format', async () => {
    const function_call = { name: 'files__wipe', arguments: '{}' };
    const message = { role: 'assistant', content: null, function_call };
    const choices = [{ message, finish_reason: 'function_call' }];
    const before = called();
    const { results, messages } = await execute({ format: 'openai-chat', response: { choices } });
    expect(results).toMatchObject([{ is_error: false }]);
    expect(messages).toMatchObject([{ role: 'function', name: 'files__wipe' }]);
    expect(called()).toBe(before + 1);
  });
});
