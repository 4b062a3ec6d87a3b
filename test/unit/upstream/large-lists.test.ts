/** A server with lists that are too large together, though each of them would be stored. */
import { expect, it } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { discover, MAX_CATALOG_BYTES } from '../../../src/upstream/discovery/discover.ts';
import type { Channel } from '../../../src/upstream/session/channel.ts';

const ITEMS = 15;

/** Lists a tool, and resources and prompts whose descriptions are filled up. */
function createChannel(fill: string): Channel {
  const description = fill.repeat(MAX_CATALOG_BYTES / 20);
  const numbered = Array.from({ length: ITEMS }, (_, n) => n);
  const lists: Record<string, object> = {
    'tools/list': { tools: [{ name: 'a', inputSchema: { type: 'object' } }] },
    'resources/list': {
      resources: numbered.map(n => ({ uri: `note://${n}`, name: `${n}`, description })),
    },
    'resources/templates/list': { resourceTemplates: [] },
    'prompts/list': { prompts: numbered.map(n => ({ name: `${n}`, description })) },
  };
  return {
    async request(method) {
      const parsed = lists[method] as Record<string, unknown>;
      return { kind: 'response', result: JSON.stringify(parsed), parsed };
    },
    async notify() {},
    close() {},
  };
}

it.each([
  ['of more bytes than a catalog can have', 'x', 1],
  ['of few characters, but of many bytes', '語', 2],
])('[REG-5] [SEC-9] lists %s fail, and its tools stay', async (_what, fill, failures) => {
  const deadline = createDeadline(60_000);
  const listing = { channel: createChannel(fill), deadline, hidden: [] };
  const { items, failed } = await discover(listing, { tools: {}, resources: {}, prompts: {} });
  deadline.release();
  expect(items.tools).toHaveLength(1);
  expect(failed).toHaveLength(failures);
  expect(failed[0]?.error.code).toBe('upstream_too_large');
  const bytes = Buffer.byteLength(Object.values(items).flat().join(''));
  expect(bytes).toBeLessThanOrEqual(MAX_CATALOG_BYTES);
});
