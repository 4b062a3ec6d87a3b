/** Spans of requests: names, parents, errors, and attributes of the published conventions. */
import * as published from '@opentelemetry/semantic-conventions/incubating';
import { expect, it } from 'vitest';
import { Operation, toEnding, type EndedOperation } from '../../../src/telemetry/operation.ts';
import { toTrace } from '../../../src/telemetry/to-trace.ts';
import type { FinishedSpan } from '../../../src/tracing/trace.ts';

const TRACE = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
const NAMES = new Set<unknown>(
  Object.entries(published).flatMap(([key, name]) => (key.startsWith('ATTR_') ? [name] : [])),
);

/** An ended operation, on which `act` ran. */
function ended(act: (operation: Operation) => void, trace: object = {}): EndedOperation {
  let over: EndedOperation | undefined;
  const traceOf = () => ({ ...TRACE, ...trace });
  const operation = new Operation(end => (over = end), traceOf, true);
  act(operation);
  operation.release();
  if (!over) throw new Error('it is not over');
  return over;
}

const SENDING = {
  server: 'github',
  transportType: 'HTTP',
  url: 'https://mcp.example.com/mcp',
  method: 'tools/call',
  protocolVersion: '2025-11-25',
  tool: 'create_issue',
};

const call = (operation: Operation) => {
  operation.is({
    source: 'mcp',
    method: 'tools/call',
    era: 'modern',
    requestId: '7',
    sessionId: 's-1',
    protocolVersion: '2026-07-28',
    principalId: 'p',
    tokenId: 't',
    server: 'github',
    tool: 'create_issue',
    arguments: '{"title":"It rains","password":"sesame"}',
  });
  const sending = operation.sends(SENDING);
  sending.countQuestions();
  sending.ends({ outcome: 'ok' });
};

function spansOf(operation: EndedOperation): readonly FinishedSpan[] {
  const trace = toTrace(operation);
  if (!trace) throw new Error('it has no trace');
  return trace.spans;
}

it("[OPS-7] a call has a server span and a client span, in the caller's trace", () => {
  const link = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), isSampled: false };
  const [server, client] = spansOf(ended(call, { parentSpanId: 'e'.repeat(16), link }));
  expect(server).toMatchObject({
    kind: 'server',
    name: 'tools/call create_issue',
    spanId: TRACE.spanId,
    parentSpanId: 'e'.repeat(16),
    link,
    error: undefined,
  });
  expect(server?.attributes).toEqual({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'create_issue',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.call.arguments': '{"title":"It rains","password":"[redacted]"}',
    'jsonrpc.request.id': '7',
    'mcp.session.id': 's-1',
    'mcp.protocol.version': '2026-07-28',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'portico.server': 'github',
    'portico.principal.id': 'p',
    'portico.token.id': 't',
    'portico.outcome': 'ok',
    'portico.source': 'mcp',
  });
  expect(client).toMatchObject({
    kind: 'client',
    name: 'tools/call create_issue',
    parentSpanId: TRACE.spanId,
  });
  expect(client?.attributes).toMatchObject({
    'server.address': 'mcp.example.com',
    'server.port': 443,
    'network.transport': 'tcp',
    'portico.questions': 1,
  });
});

it('[OPS-7] an HTTP request has what the conventions require of a server span', () => {
  const facts = { source: 'rest', path: '/api/v1/tokens/t1', scheme: 'https' } as const;
  const [span] = spansOf(
    ended(operation =>
      operation.is({ ...facts, method: 'GET', route: '/api/v1/tokens/:id', status: 200 }),
    ),
  );
  expect(span?.name).toBe('GET /api/v1/tokens/:id');
  expect(span?.attributes).toMatchObject({
    'http.request.method': 'GET',
    'url.path': '/api/v1/tokens/t1',
    'url.scheme': 'https',
  });
});

it('[OPS-7] a method without a standard is no name and no value of its own', () => {
  const facts = { source: 'rest', method: 'PROPFIND', status: 404 } as const;
  const [span] = spansOf(ended(operation => operation.is(facts)));
  expect(span?.name).toBe('HTTP');
  expect(span?.attributes).toMatchObject({
    'http.request.method': '_OTHER',
    'http.request.method_original': 'PROPFIND',
  });
});

it('[OPS-7] every attribute is one of the published conventions, or under our own prefix', () => {
  const rest = ended(operation =>
    operation.is({
      source: 'rest',
      method: 'GET',
      route: '/api/v1/tokens/:id',
      path: '/api/v1/tokens/t1',
      scheme: 'https',
      status: 200,
    }),
  );
  const other = ended(operation => operation.is({ source: 'rest', method: 'PROPFIND' }));
  const read = ended(operation => {
    operation.is({ source: 'mcp', method: 'resources/read', uri: 'note://me' });
    operation.sends({ ...SENDING, method: 'prompts/get', prompt: 'greet' }).ends({
      outcome: 'rpc_error',
      code: -32602,
    });
  });
  const spans = [ended(call), rest, other, read].flatMap(spansOf);
  const keys = spans.flatMap(({ attributes }) => Object.keys(attributes));
  const foreign = keys.filter(key => !NAMES.has(key) && !key.startsWith('portico.'));
  expect(keys.length).toBeGreaterThan(30);
  expect(foreign).toEqual([]);
});

it('[OPS-7] a program behind a connector is reached by a pipe, and has no address', () => {
  const sends = (operation: Operation) =>
    operation
      .sends({ ...SENDING, transportType: 'STDIO', url: 'connector://c/x' })
      .ends({ outcome: 'ok' });
  const { attributes = {} } = spansOf(ended(sends))[1] ?? {};
  expect(attributes['network.transport']).toBe('pipe');
  expect(Object.keys(attributes)).not.toContain('server.address');
});

it.each([
  [{ outcome: 'ok' }, undefined, undefined],
  [{ outcome: 'cancelled' }, undefined, undefined],
  [{ outcome: 'tool_error' }, 'tool_error', undefined],
  [{ outcome: 'rpc_error', code: -32602 }, '-32602', '-32602'],
  [toEnding('upstream_timeout'), 'upstream_timeout', undefined],
  [toEnding('forbidden'), 'forbidden', undefined],
] as const)('[OPS-7] what ended as %j has the error %s', (ending, type, status) => {
  const [span] = spansOf(
    ended(operation => {
      operation.is({ source: 'mcp', method: 'tools/call' });
      operation.ends(ending);
    }),
  );
  expect(span?.error).toBe(type);
  expect(span?.attributes['error.type']).toBe(type);
  expect(span?.attributes['rpc.response.status_code']).toBe(status);
});

it.each([
  ['forbidden', 403, undefined],
  ['validation_failed', 422, undefined],
  ['upstream_timeout', 504, 'upstream_timeout'],
  ['internal', 500, 'internal'],
] as const)(
  '[OPS-7] an HTTP request that ended with %s (%d) has the error %s',
  (code, status, error) => {
    const [span] = spansOf(
      ended(operation => {
        operation.is({ source: 'rest', method: 'GET', route: '/api/v1/tokens/:id', status });
        operation.ends(toEnding(code));
      }),
    );
    expect(span?.error).toBe(error);
    expect(span?.attributes['error.type']).toBe(code);
  },
);

it('[OPS-7] codes show who can fix the problem', () => {
  expect(toEnding('tool_not_found').outcome).toBe('denied');
  expect(toEnding('unauthorized').outcome).toBe('denied');
  expect(toEnding('invalid_params').outcome).toBe('invalid');
  expect(toEnding('upstream_4xx').outcome).toBe('failed');
  expect(toEnding('internal').outcome).toBe('failed');
});

it('[OPS-7] an untraced request has no spans', () => {
  let over: EndedOperation | undefined;
  const operation = new Operation(
    end => (over = end),
    () => undefined,
    false,
  );
  operation.release();
  expect(over && toTrace(over)).toBeUndefined();
  expect(operation.traceparent).toBeUndefined();
});
