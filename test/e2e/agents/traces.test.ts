/** Traces of a running gateway: in a folder, at a collector, and as a tree in the terminal. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCollector, type Collector } from '../../fixtures/otlp-collector.ts';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { ExportTraceServiceRequest } from '../../unit/tracing/otlp-schema.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SECRET = `sk-${'s'.repeat(24)}`;

let data: string;
let collector: Collector;
let gateway: Gateway;
let upstream: Upstream;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-traces-'));
  collector = await startCollector();
  const env = {
    ...QUIET,
    PORTICO_OTLP_URL: collector.origin,
    PORTICO_OTLP_HEADERS: `x-api-key=${SECRET}`,
  };
  [gateway, upstream] = await Promise.all([
    startGateway({ env, data }),
    startFixture('rich-modern'),
  ]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.stop(), collector?.stop()]);
  await rm(data, { recursive: true, force: true });
});

const folder = () => join(data, 'traces');
const filesOf = async () => (await readdir(folder()).catch(() => [])).toSorted();
const callOf = (id: string, name: string, args: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

it('[LLM-6] an execution writes a trace to the folder and the collector, an ordinary call does not', async () => {
  const ordinary = { name: 'rich.echo', arguments: { text: 'hello' } };
  await gateway.api('POST', '/api/v1/tools/call', ordinary);
  const response = await fetch(`${gateway.origin}/api/v1/tools/execute`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE}-${PARENT}-01`,
    },
    body: JSON.stringify({
      format: 'openai-chat',
      calls: [
        callOf('c1', 'rich__echo', { text: SECRET }),
        callOf('c2', `unknown_${SECRET}`, { password: SECRET }),
      ],
    }),
  });
  const text = await response.text();
  expect([text, response.status]).toEqual([text, 200]);

  const [file = ''] = await until('a trace is there', 30_000, async () => {
    const names = (await filesOf()).filter(name => name.endsWith('.ndjson'));
    return names.length > 0 ? names : undefined;
  });
  expect(await filesOf()).toEqual([file]);
  expect(file).toMatch(new RegExp(`^\\d{4}-.*Z-${TRACE}\\.ndjson$`));
  const path = join(folder(), file);
  expect([(await stat(path)).mode & 0o777, (await stat(folder())).mode & 0o777]).toEqual([
    0o600, 0o700,
  ]);
  const written = await readFile(path, 'utf8');
  const lines = written
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ name }) => name)).toEqual(['execute', 'tool.call', 'tool.call']);
  expect(lines[0]).toMatchObject({ trace_id: TRACE });
  expect(lines[1]).toMatchObject({ decision: 'done', attributes: { tool: 'rich__echo' } });
  expect(lines[2]).toMatchObject({ decision: 'error' });
  expect(lines[2]).not.toHaveProperty('attributes');

  const ofTrace = () =>
    collector.received
      .flatMap(({ body }) => ExportTraceServiceRequest.parse(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap(scope => scope.spans))
      .filter(({ traceId }) => traceId === TRACE);
  const spans = await until('the collector has it', 30_000, async () =>
    ofTrace().some(({ parentSpanId }) => parentSpanId === PARENT) ? ofTrace() : undefined,
  );
  expect(collector.received[0]?.headers['x-api-key']).toBe(SECRET);
  // The request, its execution, the execution's two calls, and the one that was sent out.
  const of = (name: string) => spans.filter(span => span.name === name);
  const [request] = of('POST /api/v1/tools/execute');
  expect(request?.parentSpanId).toBe(PARENT);
  expect(of('execute')).toMatchObject([{ parentSpanId: request?.spanId }]);
  expect(of('tools/call echo')).toMatchObject([{ parentSpanId: request?.spanId, kind: 3 }]);
  expect([...of('execute'), ...of('tool.call')].map(({ spanId }) => spanId)).toEqual(
    lines.map(line => line['span_id']),
  );
  expect(spans).toHaveLength(5);
  for (const kept of [written, JSON.stringify(spans)]) expect(kept).not.toContain(SECRET);
});

it('[LLM-6] [CLI-4] prints a trace as a tree, lists traces, and gives them to programs as JSON', async () => {
  const env = { PORTICO_TRACE_DIR: folder() };
  const tree = await runPortico(['trace'], { env });
  expect([tree.code, tree.err]).toEqual([0, '']);
  const [heading, root, ...calls] = tree.out.trimEnd().split('\n');
  expect(heading).toMatch(new RegExp(`^${TRACE} {2}\\S+Z {2}3 spans$`));
  expect(root).toMatch(/^execute +\S+ m?s +format=openai-chat {2}calls=2$/);
  expect(calls[0]).toMatch(/^├─ tool\.call +\S+ m?s {2}done {2}tool=rich__echo$/);
  expect(calls[1]).toMatch(/^└─ tool\.call +\S+ m?s {2}error/);
  expect((await runPortico(['trace', TRACE.slice(0, 8)], { env })).out).toBe(tree.out);
  const none = await runPortico(['trace', '--list', '--dir', '/no/such/folder']);
  expect(none).toMatchObject({ code: 0, out: '', err: 'no trace in /no/such/folder\n' });
  const list = await runPortico(['trace', '--list', '--dir', folder()]);
  expect(list.out).toMatch(new RegExp(`^TRACE .*\n${TRACE.slice(0, 12)} .* execute`));
  const spans = (await runPortico(['trace', '--json'], { env })).json<{ name: string }[]>();
  expect(spans.map(({ name }) => name)).toEqual(['execute', 'tool.call', 'tool.call']);
  const [file = ''] = await filesOf();
  const input = await readFile(join(folder(), file), 'utf8');
  expect((await runPortico(['trace', '-'], { input })).out).toBe(tree.out);
  const odd = await runPortico(['trace', '-'], { input: `${input}no json\n` });
  expect([odd.out, odd.err]).toEqual([tree.out, '1 lines are not spans\n']);
});

it('[LLM-6] [CLI-4] reports a missing trace in one line', async () => {
  const env = { PORTICO_TRACE_DIR: folder() };
  for (const [args, code, why] of [
    [['trace', 'ffff'], 4, 'no trace ffff'],
    [['trace', './nothing.ndjson'], 2, 'cannot be read'],
    [['trace', '--dir', join(data, 'none')], 4, 'name a folder with --dir'],
  ] as const) {
    const ran = await runPortico(args, { env });
    expect([args, ran.code, ran.out]).toEqual([args, code, '']);
    expect(ran.err).toContain(why);
  }
});
