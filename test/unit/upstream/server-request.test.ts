/** Which server request a server's cancellation names: nothing in it throws, and nothing is guessed. */
import { describe, expect, it } from 'vitest';
import { cancelledId } from '../../../src/upstream/protocol/server-request.ts';

const cancelled = (params: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });

describe('cancelledId', () => {
  it.each([
    [{ requestId: 7, reason: 'late' }, 7],
    [{ requestId: '7' }, '7'],
    [{ requestId: null }, undefined],
    [{ requestId: { id: 7 } }, undefined],
    [{}, undefined],
    [null, undefined],
    [[7], undefined],
    ['7', undefined],
    [undefined, undefined],
  ])('[MCP-4] of %j is %j', (params, id) => {
    expect(cancelledId('notifications/cancelled', cancelled(params))).toBe(id);
  });

  it('[MCP-4] is undefined for another notification', () => {
    expect(cancelledId('notifications/progress', cancelled({ requestId: 7 }))).toBeUndefined();
  });
});
