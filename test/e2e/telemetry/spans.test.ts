/**
 * Every entry point and every outgoing request as spans at a collector: the caller's trace continues in the gateway and at the server, with
 * the right parents. The servers are built with the SDKs; the collector accepts only strict OTLP.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCollector, type Collector } from '../../fixtures/otlp-collector.ts';
import {
  startEverything,
  startFixture,
  until,
  type Upstream,
} from '../../fixtures/start-fixture.ts';
import { ExportTraceServiceRequest } from '../../unit/tracing/otlp-schema.ts';
import { answeringClients } from '../support/answering-clients.ts';
import { connectPrograms, fixtureProgram } from '../support/connected.ts';
import { QUIET, startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { startHeardRelay, type HeardRelay } from '../support/heard-relay.ts';
import { headersFor, modernHeaders, requestBody } from '../support/raw-client.ts';

const CANARY = 'sk-canarycanarycanarycanary';
const SOON_MS = 30_000;
const SERVER = 2;
const CLIENT = 3;

let gateway: Gateway;
let collector: Collector;
let relays: Record<'legacy' | 'modern', HeardRelay>;
const upstreams: Upstream[] = [];

beforeAll(async () => {
  collector = await startCollector();
  const [everything, rich, sse] = await Promise.all([
    startEverything('streamableHttp'),
    startFixture('rich-modern'),
    startEverything('sse'),
  ]);
  upstreams.push(everything, rich, sse);
  relays = {
    legacy: await startHeardRelay(everything.port),
    modern: await startHeardRelay(rich.port),
  };
  const env = { ...QUIET, PORTICO_OTLP_URL: collector.origin, PORTICO_TRACE_RATIO: '1' };
  gateway = await startGateway({ env });
  await gateway.register('everything', `${relays.legacy.origin}/mcp`, TRUSTED);
  await gateway.register('rich', `${relays.modern.origin}/mcp`, TRUSTED);
  await gateway.register('old', `${sse.origin}/sse`, { ...TRUSTED, transport_type: 'SSE' });
  await connectPrograms(gateway, 'box', { meta: fixtureProgram('meta-stdio.ts') });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([...upstreams, collector].map(each => each?.stop()));
  await Promise.all(Object.values(relays ?? {}).map(relay => relay.close()));
});

let n = 0;
/** Makes a trace of a separate client. */
function newTrace() {
  n += 1;
  const traceId = n.toString(16).padStart(32, '4bf92f3577b34da6a3ce929d0e0e4736'.slice(0, 8));
  const spanId = n.toString(16).padStart(16, '00f067aa');
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` };
}

function spans() {
  return collector.received.flatMap(({ body }) =>
    ExportTraceServiceRequest.parse(body).resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(scope => scope.spans),
    ),
  );
}
type Span = ReturnType<typeof spans>[number];

/** Waits for the spans of a trace, including the server's. */
const spansOf = (traceId: string): Promise<Span[]> =>
  until('the spans are there', SOON_MS, async () => {
    const found = spans().filter(span => span.traceId === traceId);
    return found.some(({ kind }) => kind === SERVER) ? found : undefined;
  });

const valueOf = ({ attributes = [] }: Span, name: string) =>
  attributes
    .map(({ key, value }) => (key === name ? Object.values(value)[0] : undefined))
    .find(Boolean);

const url = () => `${gateway.origin}/mcp`;
const target = () => ({ url: url(), token: gateway.adminToken });

/** Calls a tool by hand, in a session if there is one. */
async function call(name: string, args: object, headers: Record<string, string>, meta?: object) {
  const params = JSON.stringify({ name, arguments: args, ...(meta ? { _meta: meta } : {}) });
  const response = await fetch(url(), {
    method: 'POST',
    headers: headersFor(target(), { ...modernHeaders('tools/call', name), ...headers }),
    body: requestBody('modern', 'tools/call', params, 7),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

/** Checks for one server span and one client span, in the caller's trace. */
async function expectChain({ traceId, spanId }: ReturnType<typeof newTrace>, tool: string) {
  const found = await spansOf(traceId);
  const [server] = found.filter(({ kind }) => kind === SERVER);
  const [client] = found.filter(({ kind }) => kind === CLIENT);
  expect(found).toHaveLength(2);
  expect(server).toMatchObject({ parentSpanId: spanId });
  expect(client).toMatchObject({ parentSpanId: server?.spanId, name: `tools/call ${tool}` });
  if (!server || !client) throw new Error('a span is missing');
  return { server, client };
}

it.each([
  ['rich.echo', 'modern', { text: CANARY }],
  ['everything.echo', 'legacy', { message: CANARY }],
] as const)('[OPS-7] a call of %s: client, gateway, server', async (name, era, args) => {
  const trace = newTrace();
  await call(name, args, { traceparent: trace.traceparent });
  const { server, client } = await expectChain(trace, 'echo');
  expect(server.name).toBe('tools/call echo');
  expect(valueOf(server, 'jsonrpc.request.id')).toBe('7');
  expect(valueOf(server, 'mcp.protocol.version')).toBe('2026-07-28');
  const told = `00-${trace.traceId}-${client.spanId}-01`;
  expect(relays[era].calls.at(-1)).toEqual({ header: told, meta: told });
});

it("[OPS-7] the message's trace takes precedence over the transport's, which is linked", async () => {
  const [own, ambient] = [newTrace(), newTrace()];
  const headers = { traceparent: ambient.traceparent };
  await call('rich.echo', { text: 'x' }, headers, { traceparent: own.traceparent });
  const { server } = await expectChain(own, 'echo');
  expect(server.links).toEqual([{ traceId: ambient.traceId, spanId: ambient.spanId }]);
});

it('[OPS-7] HTTP+SSE behind the gateway, and a program behind a connector', async () => {
  const old = newTrace();
  await call('old.echo', { message: 'hi' }, { traceparent: old.traceparent });
  await expectChain(old, 'echo');
  const program = newTrace();
  const said = await call('meta.meta', {}, { traceparent: program.traceparent });
  const { client } = await expectChain(program, 'meta');
  expect(said).toContain(`00-${program.traceId}-${client.spanId}-01`);
  expect(valueOf(client, 'network.transport')).toBe('pipe');
});

it('[OPS-7] REST is a span of HTTP with the call below it', async () => {
  const { traceId, spanId, traceparent } = newTrace();
  const response = await fetch(`${gateway.origin}/api/v1/tools/call`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      'content-type': 'application/json',
      traceparent,
    },
    body: JSON.stringify({ name: 'rich.echo', arguments: { text: 'x' } }),
  });
  expect(response.status).toBe(200);
  await response.text();
  const { server } = await expectChain({ traceId, spanId, traceparent }, 'echo');
  expect(server.name).toBe('POST /api/v1/tools/call');
  expect(valueOf(server, 'http.response.status_code')).toBe('200');
});

it.each(Object.entries(answeringClients))(
  '[OPS-7] a question during a call: %s',
  async (_name, connect) => {
    const before = spans().length;
    const client = await connect({ origin: gateway.origin, token: gateway.adminToken });
    await client.call('everything.trigger-elicitation-request');
    await client.close();
    const isAsked = (span: Span) => span.kind === CLIENT && valueOf(span, 'portico.questions');
    const [asked] = await until('the question is in a span', SOON_MS, async () => {
      const found = spans().slice(before).filter(isAsked);
      return found.length > 0 ? found : undefined;
    });
    expect(asked?.name).toBe('tools/call trigger-elicitation-request');
    const parents = await until('its parent is there', SOON_MS, async () => {
      const found = spans().filter(({ spanId }) => spanId === asked?.parentSpanId);
      return found.length > 0 ? found : undefined;
    });
    expect(parents).toHaveLength(1);
    expect(parents[0]).toMatchObject({ kind: SERVER, traceId: asked?.traceId });
  },
);

it('[OPS-7] failures and hidden tools: an error, and no name that the caller may not know', async () => {
  const unknown = newTrace();
  await call('rich.nothing-of-this-name', {}, { traceparent: unknown.traceparent });
  const found = await spansOf(unknown.traceId);
  expect(found).toHaveLength(1);
  expect(found[0]?.status).toEqual({ code: 2, message: 'tool_not_found' });
  expect(JSON.stringify(found)).not.toContain('nothing-of-this-name');
});

it('[OPS-7] no argument and no result is in a span', () => {
  const text = JSON.stringify(collector.received.map(({ body }) => body));
  expect(text).toContain('gen_ai.tool.name');
  expect(text).not.toContain(CANARY);
  expect(text).not.toContain('gen_ai.tool.call');
});
