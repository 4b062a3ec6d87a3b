/** Discovery of a server whose list never arrives: the lists that arrived count. */
import { afterEach, expect, it, vi } from 'vitest';
import { MODERN_VERSION } from '../../../src/shared/protocol.ts';
import { createHttpChannel } from '../../../src/upstream/session/channel.ts';
import { createDeadline } from '../../../src/http/deadline.ts';
import { discover } from '../../../src/upstream/discovery/discover.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

/** Answers as a server that is silent when it is asked for `silent`, and then calls `onSilent`. */
function serve(silent: string, onSilent: () => void): void {
  vi.spyOn(globalThis, 'fetch').mockImplementation((_input, init) => {
    const text = typeof init?.body === 'string' ? init.body : '{}';
    const { id, method } = JSON.parse(text) as { id: unknown; method: string };
    if (method === silent) {
      onSilent();
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    }
    const result = {
      tools: [{ name: 'a', inputSchema: { type: 'object' } }],
      prompts: [{ name: 'p' }],
    };
    const resources = { resources: [], resourceTemplates: [] };
    return Promise.resolve(
      Response.json({ jsonrpc: '2.0', id, result: { ...result, ...resources } }),
    );
  });
}

it.each(['resources/list', 'prompts/list'])(
  '[MCP-12] a %s that hangs loses no other list',
  async silent => {
    // The deadline ends after the list was requested, when nothing else is left to arrive.
    const deadline = createDeadline(60_000);
    serve(silent, () => setTimeout(() => deadline.end(), 50));
    const channel = createHttpChannel(
      endpoint,
      { era: 'modern', protocolVersion: MODERN_VERSION },
      1_000_000,
    );
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    const found = await discover({ channel, deadline, hidden: [] }, capabilities);
    expect(found.items.tools).toHaveLength(1);
    expect(found.items.prompts).toHaveLength(silent === 'prompts/list' ? 0 : 1);
    expect(found.failed.map(({ kind }) => kind)).toEqual([silent.split('/')[0]]);
    deadline.release();
  },
);
