/** Search results in the forms of hosts that search for tools themselves. */
import { describe, expect, it } from 'vitest';
import { toAnthropicResult, toOpenaiOutput } from '../../../src/search/tool-references.ts';

describe('a search result', () => {
  it('[FIND-2] is references with their definitions for Anthropic', () => {
    const tool = { name: 'github__create_issue', input_schema: { type: 'object' } };
    expect(toAnthropicResult([tool])).toEqual({
      content: [{ type: 'tool_reference', tool_name: 'github__create_issue' }],
      tools: [{ ...tool, defer_loading: true }],
    });
  });

  it('[FIND-2] is the output of a search for OpenAI', () => {
    const tool = { type: 'function', name: 'github__create_issue', parameters: {}, strict: false };
    expect(toOpenaiOutput([tool])).toEqual({
      type: 'tool_search_output',
      execution: 'client',
      status: 'completed',
      tools: [{ ...tool, defer_loading: true }],
    });
  });
});
