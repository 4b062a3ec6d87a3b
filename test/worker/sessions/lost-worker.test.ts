/** A suspended call that a Worker made, if the Worker is gone by the time the client comes back with its answers. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { configOf } from '../../../src/config.ts';
import { ObjectCalls } from '../../../src/sessions/object-calls.ts';
import type { Upstreams } from '../../../src/upstream/upstream-client.ts';

interface Line {
  kind: string;
  callId?: string;
  code?: string;
}

const linesIn = async (stream: ReadableStream<Uint8Array>): Promise<Line[]> =>
  (await new Response(stream).text())
    .split('\n')
    .filter(text => text !== '')
    .map(text => JSON.parse(text) as Line);

it('[MCP-5] is gone, and holds nothing any more', async () => {
  const id = { toString: () => 'lost-worker' } as DurableObjectId;
  const calls = new ObjectCalls({} as Upstreams, configOf(env), id);
  const asking = { kind: 'question', callId: '', key: 'h1', method: 'roots/list', params: '{}' };
  const lines = new ReadableStream<Uint8Array>({
    start: controller =>
      controller.enqueue(new TextEncoder().encode(`${JSON.stringify(asking)}\n`)),
  });
  const answer = { give: () => Promise.reject(new Error('gone')), drop() {} };
  const terms = { capabilities: { roots: {} }, questions: 'suspend' } as const;
  const [suspended] = await linesIn(calls.adopt(lines, answer, terms));
  expect([suspended?.kind, calls.size]).toEqual(['parked', 1]);
  const answers = new Map([['q1', { result: '{"roots":[]}' }]]);
  const resumed = await linesIn(calls.resume(suspended?.callId ?? '', answers));
  expect(resumed).toMatchObject([{ kind: 'failure', code: 'call_gone' }]);
  expect(calls.size).toBe(0);
});
