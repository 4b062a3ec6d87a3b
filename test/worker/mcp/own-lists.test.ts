/** What a caller is told of changed lists: nothing without the right to list them. */
import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import type { CallerContext } from '../../../src/mcp/request-context.ts';
import { recheckLists } from '../../../src/mcp/own-tools/own-lists.ts';
import { LISTS } from '../../../src/shared/events.ts';
import type { Scope } from '../../../src/shared/identity/principal.ts';

const CHANGE = [{ serverId: 'alpha', lists: ['tools'] }] as const;
const gateway = {
  list: () => Promise.resolve({ items: [], ttlMs: 0, isWhole: true }),
} as unknown as Gateway;

async function toldOf(scope: Scope) {
  const viewer = {
    caller: { scopes: new Set([scope]) },
    visible: { servers: [{ id: 'alpha' }] },
    tools: 'all',
  };
  const context = { viewer } as unknown as CallerContext;
  return (await recheckLists(gateway, context, LISTS, CHANGE)).told;
}

describe('a changed list', () => {
  it('[ACC-2] is announced only to callers that may list', async () => {
    expect(await toldOf('tools:read')).toEqual(['tools']);
    expect(await toldOf('tools:call')).toEqual([]);
  });
});
