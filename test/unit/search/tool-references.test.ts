/** Search results in the forms of hosts that search for tools themselves. */
import { describe, expect, it } from 'vitest';
import { toAnthropicResult, toOpenaiOutput } from '../../../src/search/tool-references.ts';
import { createRecord } from '../gateway/fakes.ts';

const schema = { type: 'object', properties: { title: { type: 'string' } } };
const itemOf = (name: string, members: object) => ({
  name,
  server: createRecord('github'),
  item: {
    key: name,
    raw: new Map(Object.entries(members).map(([key, value]) => [key, JSON.stringify(value)])),
  },
});
const found = [
  itemOf('github__create_issue', { description: 'Create an issue', inputSchema: schema }),
  itemOf('github__bare', { description: 7 }),
];

describe('a search result', () => {
  it('[FIND-2] is references with their definitions for Anthropic', () => {
    expect(toAnthropicResult(found)).toEqual({
      content: [
        { type: 'tool_reference', tool_name: 'github__create_issue' },
        { type: 'tool_reference', tool_name: 'github__bare' },
      ],
      tools: [
        {
          name: 'github__create_issue',
          description: 'Create an issue',
          input_schema: schema,
          defer_loading: true,
        },
        { name: 'github__bare', input_schema: { type: 'object' }, defer_loading: true },
      ],
    });
  });

  it('[FIND-2] is the output of a search for OpenAI', () => {
    expect(toOpenaiOutput(found)).toEqual({
      type: 'tool_search_output',
      execution: 'client',
      status: 'completed',
      tools: [
        {
          type: 'function',
          name: 'github__create_issue',
          description: 'Create an issue',
          parameters: schema,
          defer_loading: true,
        },
        {
          type: 'function',
          name: 'github__bare',
          parameters: { type: 'object' },
          defer_loading: true,
        },
      ],
    });
  });
});
