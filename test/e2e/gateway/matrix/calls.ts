/** Calls of tools in each cell: what is sent and returned unchanged, what happens during a call, and how a call ends. */
import { expect } from 'vitest';
import { until } from '../../../fixtures/start-fixture.ts';
import { eachCell, textOf } from './stand.ts';
import type { Place } from './stand.ts';

/** Less than a call timeout, so that only the client can end the call. */
const SOON_MS = 20_000;

eachCell('[MCP-5] [MCP-7] {tools/call: * > *} answers', async cell => {
  const { content } = await cell.call(cell.of('test_simple_text'));
  expect(content).toEqual([{ type: 'text', text: 'This is a simple text response for testing.' }]);
});

eachCell('[MCP-7] {content of every type: * > *} keeps kind, order and bytes', async cell => {
  const typesOf = async (name: string) =>
    (await cell.call(cell.rich(name))).content.map(({ type }) => type);
  expect(await typesOf('ordered')).toEqual(['text', 'image', 'text', 'audio', 'text']);
  // A reference to a resource is qualified, as the resource is listed and read.
  const uriOf = (uri: string) => `rich-${cell.upstream}+${uri}`;
  const embedded = await cell.call(cell.rich('embedded'));
  const text = expect.stringContaining('עברית') as string;
  expect(embedded.content).toMatchObject([
    { type: 'resource', resource: { uri: uriOf('note://1'), text } },
    { type: 'resource', resource: { uri: uriOf('file:///a.png'), mimeType: 'image/png' } },
  ]);
  const { content } = await cell.call(cell.rich('image'));
  const bytes = Buffer.from(String(content[0]?.['data']), 'base64');
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  const uri = uriOf('note://2');
  expect((await cell.call(cell.rich('link'))).content).toEqual([
    { type: 'resource_link', uri, name: 'two', description: 'A note', size: 7 },
  ]);
  const read = await cell.client.request('resources/read', { uri });
  expect(read).toMatchObject({ contents: [{ uri, text: 'Note note://2' }] });
});

eachCell('[MCP-4] [MCP-7] {structuredContent: * > *} arrives beside the text', async cell => {
  const result = await cell.call(cell.rich('structured'));
  expect(result.content).toEqual([{ type: 'text', text: '{"celsius":21.5}' }]);
  expect(result.structuredContent).toEqual({
    celsius: 21.5,
    words: ['b', 'a'],
    deep: { z: null, a: [[]] },
  });
});

eachCell('[MCP-7] {arguments as sent: * > *} reach the server byte by byte', async cell => {
  const given = { z: 1, a: [null, { b: 1.5e300, 'é\u2028': '\u{1F680}' }], '10': -1, '2': '' };
  expect(textOf(await cell.call(cell.rich('mirror'), given))).toBe(JSON.stringify(given));
});

eachCell('[MCP-7] {errors as sent: * > *} keep code, message and data', async cell => {
  await expect(cell.call(cell.rich('broken'))).rejects.toThrow('Broken on purpose');
  const { error } = cell.client.heard.findLast(message => message.error !== undefined) ?? {};
  expect(error).toEqual({
    code: -31999,
    // A server on SDK 1 adds this prefix.
    message: `${cell.isModernServer ? '' : 'MCP error -31999: '}Broken on purpose`,
    data: { kind: 'demo', list: [1, null, 'ü'] },
  });
  const refused = await cell.call(cell.rich('refused'));
  expect(refused).toMatchObject({ isError: true, content: [{ text: 'The tool refused' }] });
});

eachCell('[MCP-4] {trace context: * > *} reaches the server in _meta', async cell => {
  const trace = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
    tracestate: 'vendor=1,other=2',
    baggage: 'user=ada,tier=gold',
  };
  const told = await cell.call(cell.rich('meta'), {}, { _meta: trace });
  expect(JSON.parse(textOf(told))).toMatchObject(trace);
});

eachCell(
  "[MCP-10] [UP-2] {session at the server: legacy, sse > legacy, sse} is the client's own",
  async cell => {
    const count = async () => textOf(await cell.call(cell.rich('counter')));
    expect([await count(), await count()]).toEqual(['1', '2']);
  },
);

eachCell('[UP-2] {session at the server: modern > legacy} is kept between calls', async cell => {
  const count = async () => Number(textOf(await cell.call(cell.rich('counter'))));
  const first = await count();
  expect(await count()).toBe(first + 1);
});

eachCell('[MCP-4] [UP-3] {progress: * > *} arrives step by step', async cell => {
  const progressToken = `steps of ${cell.upstream}`;
  const { content } = await cell.call(cell.rich('steps'), {}, { _meta: { progressToken } });
  expect(content).toEqual([{ type: 'text', text: 'done' }]);
  const heard = cell.client.heard.filter(({ method }) => method === 'notifications/progress');
  expect(heard.map(({ params }) => params)).toMatchObject(
    [1, 2, 3].map(progress => ({ progressToken, progress, total: 3 })),
  );
});

eachCell('[MCP-4] [UP-3] {cancellation by the client: * > *} ends the call there', async cell => {
  const count = async (of: string) =>
    Number(textOf(await cell.call(cell.rich('executions'), { of })));
  const [begun, ended] = [await count('hang'), await count('hang, cancelled')];
  const giveUp = new AbortController();
  const call = cell.call(cell.rich('hang'), {}, {}, giveUp.signal).catch(String);
  await until('the call is there', SOON_MS, async () =>
    (await count('hang')) > begun ? true : undefined,
  );
  giveUp.abort(new Error('enough'));
  expect(await call).toContain('enough');
  await until('the server heard', SOON_MS, async () =>
    (await count('hang, cancelled')) > ended ? true : undefined,
  );
  expect(await count('hang')).toBe(begun + 1);
});

const logged = ({ client }: Place) =>
  client.heard.filter(({ method }) => method === 'notifications/message');
const LOGGED = { level: 'info', logger: 'conformance', data: 'test_logging_tool runs' };

eachCell(
  '[MCP-4] {logging/setLevel: legacy, sse > *} {notifications/message: legacy, sse > *} holds for the session',
  async cell => {
    const run = async (level: string) => {
      await cell.client.request('logging/setLevel', { level });
      await cell.call(cell.of('test_logging_tool'));
      return logged(cell).map(({ params }) => params);
    };
    expect(await run('error')).toEqual([]);
    expect(await run('info')).toMatchObject([LOGGED]);
  },
);

eachCell(
  '[MCP-4] {log level in _meta: modern > *} {notifications/message: modern > *} holds for the request',
  async cell => {
    const run = async (level?: string) => {
      const _meta = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level };
      await cell.call(cell.of('test_logging_tool'), {}, { _meta });
      return logged(cell).map(({ params }) => params);
    };
    expect(await run()).toEqual([]);
    expect(await run('error')).toEqual([]);
    expect(await run('info')).toMatchObject([LOGGED]);
  },
);

eachCell(
  '[MCP-11] [UP-2] {Last-Event-ID at the server: * > legacy} fetches a result whose stream was closed',
  async cell => {
    expect(textOf(await cell.call(cell.of('test_reconnection')))).toBe(
      'The client came back for this result',
    );
  },
);
