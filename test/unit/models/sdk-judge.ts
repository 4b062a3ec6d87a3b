/** The official clients of OpenAI, Anthropic and Google: what each holds of a turn at the end of a stream. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, type GenerateContentResponse } from '@google/genai';
import OpenAI from 'openai';
import { vi } from 'vitest';
import type { Format } from '../../../src/models/formats/dialect.ts';

/** What a client holds of a turn: its stop reason, and its calls. */
export interface Held {
  reason: string | undefined;
  calls: { name: string; given: unknown }[];
}

const streamOf = (text: string) => async () =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } });
const common = { apiKey: 'k', maxRetries: 0 };
const messages = [{ role: 'user' as const, content: 'Go' }];
/** Like its users: an empty text means no arguments. */
const parse = (text: string): unknown => (text === '' ? {} : JSON.parse(text));

/** Google's client takes no fetch function: whoever uses it must restore the stubbed globals. */
export const JUDGES: Record<Format, (text: string) => Promise<Held>> = {
  async 'openai-chat'(text) {
    const client = new OpenAI({ ...common, fetch: streamOf(text) });
    const { choices } = await client.chat.completions
      .stream({ model: 'm', messages })
      .finalChatCompletion();
    const calls = (choices[0]?.message.tool_calls ?? []).flatMap(call =>
      call.type === 'function'
        ? [{ name: call.function.name, given: parse(call.function.arguments) }]
        : [],
    );
    return { reason: choices[0]?.finish_reason, calls };
  },
  async 'openai-responses'(text) {
    const client = new OpenAI({ ...common, fetch: streamOf(text) });
    const { status, output } = await client.responses
      .stream({ model: 'm', input: 'Go' })
      .finalResponse();
    const calls = output.flatMap(item =>
      item.type === 'function_call' ? [{ name: item.name, given: parse(item.arguments) }] : [],
    );
    return { reason: status, calls };
  },
  async anthropic(text) {
    const client = new Anthropic({ ...common, fetch: streamOf(text) });
    const { stop_reason: reason, content } = await client.messages
      .stream({ model: 'm', max_tokens: 10, messages })
      .finalMessage();
    const calls = content.flatMap(block =>
      block.type === 'tool_use' ? [{ name: block.name, given: block.input }] : [],
    );
    return { reason: reason ?? undefined, calls };
  },
  async gemini(text) {
    vi.stubGlobal('fetch', streamOf(text));
    const client = new GoogleGenAI({ apiKey: 'k' });
    const came: GenerateContentResponse[] = [];
    const asked = { model: 'm', contents: 'Go' };
    for await (const each of await client.models.generateContentStream(asked)) came.push(each);
    const calls = came.flatMap(({ functionCalls = [] }) =>
      functionCalls.map(({ name = '', args = {} }) => ({ name, given: args as unknown })),
    );
    return { reason: came.at(-1)?.candidates?.[0]?.finishReason, calls };
  },
};
