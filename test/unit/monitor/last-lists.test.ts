/** Lists that could not be read keep their items from the last catalog, as far as a catalog can be stored with them. */
import { expect, it } from 'vitest';
import { withLastLists } from '../../../src/monitor/last-lists.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';

const ofChars = (count: number) => JSON.stringify({ name: 'x'.repeat(count) });
const LAST = `{"tools":[],"resources":[${ofChars(14e6)}],"prompts":[{"name":"p"}]}`;

it.each([
  [5e6, 1],
  [13e6, 0],
])(
  '[REG-5] [SEC-9] resources of 14 MB stay beside tools of %i bytes: %i list',
  (toolChars, resources) => {
    const error = new PorticoError('upstream_too_large');
    const { items } = withLastLists(
      {
        items: { tools: [ofChars(toolChars)], resources: [], resourceTemplates: [], prompts: [] },
        ttlMs: {},
        warning: null,
        failed: [
          { kind: 'resources', error },
          { kind: 'prompts', error },
        ],
        verdict: {
          era: 'modern',
          transport: 'http',
          protocolVersion: '2026-07-28',
          sessionful: false,
        },
        capabilities: {},
        instructions: undefined,
      },
      LAST,
    );
    expect(items.resources).toHaveLength(resources);
    expect(items.prompts).toEqual(['{"name":"p"}']);
  },
);
