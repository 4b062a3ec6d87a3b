/** Stdio servers behind their Streamable HTTP adapter, used by real clients: every era, every result exactly as the child wrote it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLegacy, openModern, post, requestBody, textOf } from '../support/raw-client.ts';
import { clients, type ClientName } from '../support/sdk-clients.ts';
import { closeStands, node, openStand, publicServer } from '../support/stdio-stand.ts';
import { openWireSession } from '../support/wire-session.ts';

afterAll(closeStands);

const conformance = (sdk: '1' | '2') => node('test/fixtures/conformance-stdio.ts', '--sdk', sdk);
const odd = (...options: string[]) => node('test/fixtures/odd-stdio.ts', ...options);

const LEGACY_CLIENTS: ClientName[] = ['SDK 1.x', 'SDK 2.x auto', 'SDK 2.x legacy'];
const MODERN_CLIENTS: ClientName[] = ['SDK 2.x auto', 'SDK 2.x pinned to 2026-07-28'];

describe('[CLI-1] a stdio server behind its HTTP adapter', () => {
  it.each(LEGACY_CLIENTS)('the public demo server serves %s', async name => {
    const stand = await openStand(publicServer('everything'));
    const client = await clients[name](stand);
    expect((await client.listTools()).map(tool => tool.name)).toContain('echo');
    const echoed = await client.callTool('echo', { message: 'hello' });
    expect(echoed['content']).toEqual([{ type: 'text', text: 'Echo: hello' }]);
    await client.close();
    await stand.close();
  });

  it.each(LEGACY_CLIENTS)('the filesystem server serves %s', async name => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-children-'));
    await writeFile(join(folder, 'a.txt'), 'what is in it');
    const stand = await openStand(publicServer('filesystem', folder));
    const client = await clients[name](stand);
    const read = await client.callTool('read_text_file', { path: join(folder, 'a.txt') });
    expect(read['content']).toEqual([{ type: 'text', text: 'what is in it' }]);
    await client.callTool('write_file', { path: join(folder, 'b.txt'), content: 'new' });
    expect(await readFile(join(folder, 'b.txt'), 'utf8')).toBe('new');
    await client.close();
    await stand.close();
    await rm(folder, { recursive: true });
  });

  it('the memory server keeps what one client stored for the next', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-children-'));
    const spec = { ...publicServer('memory'), env: { MEMORY_FILE_PATH: join(folder, 'm.jsonl') } };
    const stand = await openStand(spec);
    const first = await clients['SDK 1.x'](stand);
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
    await first.callTool('create_entities', { entities });
    await first.close();
    const second = await clients['SDK 2.x auto'](stand);
    const { structuredContent } = await second.callTool('read_graph');
    expect(structuredContent).toMatchObject({ entities });
    await second.close();
    await stand.close();
    await rm(folder, { recursive: true });
  });

  it.each([...LEGACY_CLIENTS, ...MODERN_CLIENTS].filter(name => name !== 'SDK 2.x legacy'))(
    'a server of the era of %s serves it',
    async name => {
      const isModern = MODERN_CLIENTS.includes(name);
      const stand = await openStand(conformance(isModern ? '2' : '1'));
      const client = await clients[name](stand);
      expect(stand.server.child.state).toMatchObject({
        state: 'ready',
        era: isModern ? 'modern' : 'legacy',
      });
      const image = await client.callTool('test_image_content');
      expect(image['content']).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
      await client.close();
      await stand.close();
    },
  );

  it('a result is passed on as the child wrote it, under the exact id of the caller', async () => {
    const stand = await openStand(odd());
    const client = await openLegacy(stand);
    const answer = await client.call('raw', {}, 'my "id"');
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.text).toContain(
      String.raw`"result":{"z":1.0,"content":[],"structuredContent":{"big":123456789012345678901234567890,"e":1E+2,"u":"\u00e9\/" , "a" : [ ]}}`,
    );
    expect(answer.message.id).toBe('my "id"');
    const given = '{ "n" : 1.0, "big":123456789012345678901234567890, "u":"\\u00e9" }';
    expect(textOf(await client.call('echo', given))).toBe(given);
    await stand.close();
  });

  it('a body may span several lines: the child gets one', async () => {
    const stand = await openStand(odd());
    const { sessionId = '' } = await openLegacy(stand);
    const body =
      '{\r\n"jsonrpc":"2.0",\n"id":1,"method":"tools/call",\n"params":{"name":"echo",\n"arguments":{"a":\n1}}}';
    const answer = await post(stand, body, { 'mcp-session-id': sessionId });
    expect(textOf(answer)).toBe('{"a": 1}');
    await stand.close();
  });

  it('200 concurrent calls with equal ids of ten sessions get their own answers', async () => {
    const stand = await openStand(odd());
    const sessions = await Promise.all(Array.from({ length: 10 }, () => openLegacy(stand)));
    const calls = sessions.flatMap((client, of) =>
      Array.from({ length: 20 }, (_, id) => ({ client, id, mark: `${of}/${id}` })),
    );
    const answers = await Promise.all(
      calls.map(({ client, id, mark }) => client.call('echo', { mark }, id)),
    );
    expect(answers.map(answer => answer.message.id)).toEqual(calls.map(({ id }) => id));
    expect(answers.map(answer => JSON.parse(textOf(answer)) as unknown)).toEqual(
      calls.map(({ mark }) => ({ mark })),
    );
    await stand.close();
  });

  it('a result of 10 MB arrives whole, also beside others', async () => {
    const stand = await openStand(odd());
    const client = await openLegacy(stand);
    const [big, small] = await Promise.all([
      client.call('big', { bytes: 10_000_000 }),
      client.call('pid'),
    ]);
    expect(textOf(big)).toHaveLength(10_000_000);
    expect(textOf(small)).toBe(String(stand.server.child.state.pid));
    await stand.close();
  });

  it('the child gets only the needed part of the environment and the configured variables', async () => {
    process.env['PORTICO_CHILD_TEST'] = 'not for children';
    const stand = await openStand({ ...odd(), env: { OWN: 'value' } });
    delete process.env['PORTICO_CHILD_TEST'];
    const names = textOf(await (await openLegacy(stand)).call('env')).split(' ');
    expect(names).toContain('PATH');
    expect(names).toContain('OWN');
    expect(names).not.toContain('PORTICO_CHILD_TEST');
    await stand.close();
  });
});

describe('[CLI-1] sessions of a legacy child', () => {
  it('begin with initialize, are required, and can be ended', async () => {
    const stand = await openStand(odd());
    const list = requestBody('legacy', 'tools/list', '{}', 1);
    expect((await post(stand, list)).status).toBe(400);
    expect((await post(stand, list, { 'mcp-session-id': 'unknown' })).status).toBe(404);
    const session = await openWireSession(stand.url);
    expect((await session.call('pid')).status).toBe(200);
    expect(await session.end()).toBe(200);
    expect((await session.call('pid')).status).toBe(404);
    expect(await session.end()).toBe(404);
    await stand.close();
  });

  it('are limited: the longest idle one makes room, a busy one does not', async () => {
    const stand = await openStand(odd(), { limits: { sessions: 2 } });
    const busy = await openWireSession(stand.url);
    const stream = await busy.listen();
    const idle = await openWireSession(stand.url);
    const next = await openWireSession(stand.url);
    expect((await idle.call('pid')).status).toBe(404);
    expect((await next.call('pid')).status).toBe(200);
    expect((await busy.call('pid')).status).toBe(200);
    await busy.end();
    await stream.over;
    await stand.close();
  });

  it('end after a long idle time', async () => {
    const stand = await openStand(odd(), { limits: { idleMs: 0 } });
    const session = await openWireSession(stand.url);
    expect((await session.call('pid')).status).toBe(404);
    await stand.close();
  });

  it('refuse input that is no message or too large', async () => {
    const stand = await openStand(odd(), { limits: { bodyBytes: 1_000 } });
    for (const body of [
      '',
      'x',
      '[]',
      '{"jsonrpc":"2.0"}',
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    ]) {
      expect((await post(stand, body)).status).toBe(400);
    }
    expect((await post(stand, `{"a":"${'x'.repeat(1_000)}"}`)).status).toBe(413);
    await stand.close();
  });
});

describe('[CLI-1] a modern child', () => {
  it('has no sessions and no notification stream', async () => {
    const stand = await openStand(conformance('2'), { era: 'modern' });
    const client = openModern(stand);
    expect(textOf(await client.call('test_simple_text'))).toContain('simple text');
    expect((await fetch(stand.url)).status).toBe(405);
    expect((await fetch(stand.url, { method: 'DELETE' })).status).toBe(405);
    await expect(openLegacy(stand)).rejects.toThrow('-32022');
    await stand.close();
  });

  it('is never turned into a legacy one by a request of the other era', async () => {
    const stand = await openStand(conformance('2'), { era: 'modern' });
    for (const method of ['initialize', 'tools/list', 'ping']) {
      const answer = await post(stand, requestBody('legacy', method, '{}', 1));
      expect(answer.status).toBe(400);
      expect(answer.message.error?.code).toBe(-32022);
    }
    const list = requestBody('legacy', 'tools/list', '{}', 1);
    expect((await post(stand, list, { 'mcp-session-id': 'of another run' })).status).toBe(404);
    expect((await post(stand, '{"jsonrpc":"2.0","method":"notifications/a"}')).status).toBe(202);
    expect((await openModern(stand).request('server/discover')).status).toBe(200);
    expect(textOf(await openModern(stand).call('test_simple_text'))).toContain('simple text');
    await stand.close();
  });
});

describe('[CLI-1] tools that the machine withholds', () => {
  it.each(['1', '2'] as const)('are not listed and unknown, on SDK %s', async sdk => {
    const tools = { allow: ['test_*_content', 'test_simple_text'], deny: ['*audio*'] };
    const stand = await openStand(conformance(sdk), { tools });
    const client = await clients['SDK 2.x auto'](stand);
    const names = (await client.listTools()).map(tool => tool.name);
    expect(names.toSorted()).toEqual(['test_image_content', 'test_simple_text']);
    await expect(client.callTool('test_audio_content')).rejects.toThrow(
      'Unknown tool: test_audio_content',
    );
    await client.close();
    await stand.close();
  });

  it('leave the other tools listed as the child wrote them', async () => {
    const stand = await openStand(odd(), { tools: { deny: ['nothing'] } });
    const client = await openLegacy(stand);
    const { text } = await client.request('tools/list');
    expect(text).toContain('{"name":"pid" , "inputSchema":{"type":"object"}, "weight":1.0}');
    await stand.close();
  });
});
