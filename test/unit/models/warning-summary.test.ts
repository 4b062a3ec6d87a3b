/** A report of losses for people: a line for each kind of change of a tool. */
import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import { summarise } from '../../../src/models/formats/warning-summary.ts';

const NO_KEYWORD = 'the dialect has no such keyword';

describe('summarise', () => {
  it('[LLM-1] has a line for each tool and kind of loss, with the first place and the count', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`a ${i}`, { type: 'string', minLength: 1 }]),
    );
    const tools = ['one', 'two'].map(name => ({
      name,
      inputSchema: { type: 'object', properties },
    }));
    const { warnings } = dialectOf('gemini').toTools(tools, { strict: false });
    expect(warnings.length).toBe(2_000);
    const lines = summarise(warnings);
    const path = '/inputSchema/properties/a 0';
    expect(lines).toEqual(
      tools.flatMap(({ name: tool }) => [
        {
          tool,
          path,
          kind: 'changed',
          detail: expect.stringContaining('named') as string,
          count: 500,
        },
        { tool, path: `${path}/minLength`, kind: 'removed', detail: NO_KEYWORD, count: 500 },
      ]),
    );
    expect(lines.reduce((sum, { count }) => sum + count, 0)).toBe(warnings.length);
  });
});
