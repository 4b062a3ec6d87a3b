/**
 * The classifier compared with the one of the SDK's server, an implementation by the authors of the specification: same era, same code of
 * refusal. Where Portico differs on purpose, a test below says so.
 */
import { classifyInboundRequest, createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { classify, type ProtocolHeaders } from '../../../src/mcp/classify.ts';
import { META, MODERN_VERSION } from '../../../src/shared/protocol.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const handler = createMcpHandler(() => new McpServer({ name: 'oracle', version: '1' }), {
  legacy: 'reject',
});

/** What the SDK's handler answers to a modern request that its classifier let through. */
async function askHandler(
  body: unknown,
  { version, method, name }: ProtocolHeaders,
): Promise<string> {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  });
  if (version !== null) headers.set('mcp-protocol-version', version);
  if (method !== null) headers.set('mcp-method', method);
  if (name !== null) headers.set('mcp-name', name);
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const response = await handler.fetch(request);
  const text = await response.text();
  if (response.status !== 400) return 'modern';
  const { error } = JSON.parse(text) as { error: { code: number } };
  return `refused ${error.code}`;
}

async function askOracle(body: unknown, headers: ProtocolHeaders): Promise<string> {
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(headers.version === null ? {} : { protocolVersionHeader: headers.version }),
    ...(headers.method === null ? {} : { mcpMethodHeader: headers.method }),
    ...(headers.name === null ? {} : { mcpNameHeader: headers.name }),
  });
  if (outcome.kind === 'reject') return `refused ${outcome.code}`;
  if (outcome.kind === 'legacy') return 'legacy';
  return outcome.messageKind === 'request' ? askHandler(body, headers) : 'modern';
}

function askPortico(body: unknown, headers: ProtocolHeaders): string {
  try {
    return classify(body, headers).era;
  } catch (error) {
    if (error instanceof PorticoError) return `refused ${error.entry.rpc}`;
    throw error;
  }
}

/** A value that is mostly valid, so that later checks are reached. */
const mostly = <T>(random: Random, right: T, others: readonly T[]): T =>
  random.chance(0.7) ? right : random.pick(others);

function drawMeta(random: Random): Record<string, unknown> | undefined {
  if (random.chance(0.3))
    return random.pick([undefined, {}, { progressToken: 7 }, { 'vendor/key': [1] }]);
  const meta: Record<string, unknown> = { progressToken: random.pick(['a', 1]) };
  if (random.chance(0.95))
    meta[META.protocolVersion] = mostly<unknown>(random, MODERN_VERSION, [1, null, {}]);
  if (random.chance(0.9))
    meta[META.clientCapabilities] = mostly<unknown>(random, {}, [
      { elicitation: {} },
      [],
      'x',
      null,
    ]);
  if (random.chance(0.5))
    meta[META.clientInfo] = mostly<unknown>(random, { name: 'c', version: '1' }, ['x', null, []]);
  return meta;
}

function drawMessage(random: Random): { body: unknown; headers: ProtocolHeaders } {
  const method = random.pick([
    'tools/call',
    'tools/call',
    'tools/list',
    'prompts/get',
    'resources/read',
    'initialize',
    'constructor',
    'notifications/x',
  ]);
  const plain = random.pick(['a', 'n\u00e9', ' b ', '=?base64?x?=', '']);
  const meta = drawMeta(random);
  const named = random.chance(0.9)
    ? method === 'resources/read'
      ? { uri: plain }
      : { name: plain }
    : {};
  const params = { ...named, ...(meta ? { _meta: meta } : {}) };
  const body: Record<string, unknown> = {
    jsonrpc: mostly<unknown>(random, '2.0', ['2.0', '2.0', '1.0', 2]),
    method,
    params: mostly<unknown>(random, params, [params, params, params, [], null, 'x']),
  };
  if (random.chance(0.85))
    body['id'] = mostly<unknown>(random, 1, ['a', 0, -7, '', 1.5, null, {}, true, 2 ** 60]);
  const encoded = `=?base64?${Buffer.from(plain).toString('base64')}?=`;
  const headers = {
    version: mostly(random, MODERN_VERSION, [null, '2025-11-25', '2024-11-05', '2027-01-01']),
    method: mostly(random, method, [null, 'tools/list', method.toUpperCase()]),
    name: mostly<string | null>(random, encoded, [null, 'b', '=?base64?*?=', '=?base64?/w==?=']),
  };
  return { body, headers };
}

/**
 * Where the two may differ: an `initialize` with a broken modern envelope. The SDK takes it for a legacy handshake, Portico refuses the
 * envelope; no single server behaviour suits both.
 */
function isBrokenInitialize(body: unknown): boolean {
  const { method, params } = body as {
    method?: unknown;
    params?: { _meta?: Record<string, unknown> } | null;
  };
  return method === 'initialize' && params?._meta?.[META.protocolVersion] === MODERN_VERSION;
}

describe('the SDK and Portico', () => {
  it(`[MCP-1] decide alike on random messages (seed ${SEED})`, async () => {
    const random = createRandom();
    const seen = new Map<string, number>();
    for (let round = 0; round < 2_000; round += 1) {
      const { body, headers } = drawMessage(random);
      const ours = askPortico(body, headers);
      if (isBrokenInitialize(body)) continue;
      expect([JSON.stringify({ body, headers }), ours]).toEqual([
        JSON.stringify({ body, headers }),
        await askOracle(body, headers),
      ]);
      seen.set(ours, (seen.get(ours) ?? 0) + 1);
    }
    for (const verdict of [
      'modern',
      'legacy',
      'refused -32600',
      'refused -32602',
      'refused -32020',
    ]) {
      expect(seen.get(verdict) ?? 0).toBeGreaterThan(20);
    }
  });

  it.each<[unknown]>([
    [null],
    [1],
    ['x'],
    [{}],
    [[]],
    [[[]]],
    [[1]],
    [{ jsonrpc: '2.0' }],
    [{ jsonrpc: '2.0', id: 1, method: 1 }],
    [{ jsonrpc: '2.0', id: 1, result: {} }],
    [{ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'm' } }],
    [{ jsonrpc: '2.0', result: {} }],
    [{ jsonrpc: '2.0', id: null, error: { code: 1, message: 'm' } }],
    [[{ jsonrpc: '2.0', id: 1, method: 'a' }]],
    [[{ jsonrpc: '2.0', id: 1, method: 'a' }, {}]],
    [
      [
        { jsonrpc: '2.0', method: 'a' },
        { jsonrpc: '2.0', id: 1, result: {} },
      ],
    ],
    [
      [
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'a',
          params: { _meta: { [META.protocolVersion]: MODERN_VERSION } },
        },
      ],
    ],
  ])('[MCP-1] decide alike on %j', async body => {
    for (const version of [null, '2025-03-26', MODERN_VERSION]) {
      const headers = { version, method: null, name: null };
      expect([String(version), askPortico(body, headers)]).toEqual([
        String(version),
        await askOracle(body, headers),
      ]);
    }
  });
});

describe('intended differences', () => {
  const headers = { version: MODERN_VERSION, method: 'tools/list', name: null };
  const modern = { [META.protocolVersion]: MODERN_VERSION, [META.clientCapabilities]: {} };
  const of = (meta: unknown, method = 'tools/list') => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { _meta: meta },
  });

  it.each([
    ['a broken progress token', of({ ...modern, progressToken: {} }), 'refused -32600'],
    ['client info without a name', of({ ...modern, [META.clientInfo]: {} }), 'refused -32602'],
    [
      'a capability of a wrong type',
      of({ ...modern, [META.clientCapabilities]: { roots: 1 } }),
      'refused -32602',
    ],
  ])('[MCP-7] %s is left to the upstream to judge', async (_what, body, oracle) => {
    expect(await askOracle(body, headers)).toBe(oracle);
    expect(askPortico(body, headers)).toBe('modern');
  });

  it('[MCP-1] an initialize with a broken modern envelope is refused for the envelope', async () => {
    const body = of({ [META.protocolVersion]: MODERN_VERSION }, 'initialize');
    const bare = { version: null, method: null, name: null };
    expect(await askOracle(body, bare)).toBe('legacy');
    expect(askPortico(body, bare)).toBe('refused -32602');
  });

  it('[MCP-1] of two errors the missing header is reported before the unknown version', async () => {
    const body = of({ ...modern, [META.protocolVersion]: '2027-01-01' });
    const bare = { version: null, method: null, name: null };
    expect(await askOracle(body, bare)).toBe('refused -32022');
    expect(askPortico(body, bare)).toBe('refused -32020');
  });
});
