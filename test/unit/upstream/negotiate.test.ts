/** Which answers to the first request decide on a server's era. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { negotiate } from '../../../src/upstream/discovery/negotiate.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

/** Negotiates with a server that would speak the legacy era, and answers the first request with a JSON-RPC error. */
async function negotiateAfter(status: number, code: number) {
  const asked: string[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    const { id, method } = JSON.parse(String(init?.body)) as { id?: unknown; method: string };
    asked.push(method);
    if (method === 'server/discover') {
      const error = { code, message: 'm' };
      return Response.json({ jsonrpc: '2.0', id, error }, { status });
    }
    if (id === undefined) return new Response(null, { status: 202 });
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };
    return Response.json({ jsonrpc: '2.0', id, result });
  });
  const deadline = createDeadline(60_000);
  const options = { transport: 'http', maxBytes: 1e6 } as const;
  const found = await negotiate(endpoint, options, deadline).then(
    ({ verdict }) => verdict.era,
    (error: unknown) => error,
  );
  deadline.release();
  return { found, asked };
}

it.each([
  [503, -32000],
  [502, -32603],
])('[UP-1] a server that fails with %i and %i is of no era yet', async (status, code) => {
  const { found, asked } = await negotiateAfter(status, code);
  const message = `The server answered ${status} (${code}: m)`;
  expect(found).toMatchObject({ code: 'upstream_5xx', message });
  expect(asked).toEqual(['server/discover']);
});

it.each([
  [200, -32603],
  [400, -32000],
  [404, -32601],
  [500, -32601],
  [500, -32603],
])('[UP-1] a server that refuses with %i and %i is of the legacy era', async (status, code) => {
  const { found } = await negotiateAfter(status, code);
  expect(found).toBe('legacy');
});
