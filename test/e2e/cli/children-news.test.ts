/** Notifications of a shared stdio server: they reach the clients that they concern, or nobody. */
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { hear } from '../support/sse-reader.ts';
import { openModern, textOf } from '../support/raw-client.ts';
import { closeStands, node, openStand } from '../support/stdio-stand.ts';
import { openWireSession, type WireSession } from '../support/wire-session.ts';

afterAll(closeStands);

const conformance = (sdk: '1' | '2') => node('test/fixtures/conformance-stdio.ts', '--sdk', sdk);
const odd = () => node('test/fixtures/odd-stdio.ts');

/** A program of 2026-07-28 that sends its own notification in each call; of a pair of calls the first one lasts until the second. */
const TELLING = `
const base = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const say = message => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
let held;
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'server/discover') {
    const about = { capabilities: { tools: {} }, serverInfo: { name: 'telling', version: '1' } };
    return say({ id, result: { ...base, supportedVersions: ['2026-07-28'], ...about } });
  }
  if (method !== 'tools/call') return say({ id, result: { ...base, tools: [] } });
  if (params.name === 'pair' && held === undefined) return void (held = id);
  say({ method: 'notifications/com.example/own', params: { a: 1 } });
  for (const ended of [id, held]) if (ended !== undefined) say({ id: ended, result: { ...base, content: [] } });
});`;

const isQuestion = ({ id, method }: Record<string, unknown>) =>
  id !== undefined && method !== undefined;

/** Returns the levels that the odd server was set to so far. */
const laterOf = async (session: WireSession): Promise<string> => {
  const answer = await session.call('later');
  await answer.over;
  return answer.text();
};

describe('[CLI-1] notifications of a shared server', () => {
  it('progress goes to the caller that owns the token, under that token', async () => {
    const stand = await openStand(conformance('1'));
    const sessions = [await openWireSession(stand.url), await openWireSession(stand.url)];
    const calls = await Promise.all(
      sessions.map((session, of) =>
        session.send({
          id: 1,
          method: 'tools/call',
          params: { name: 'test_tool_with_progress', _meta: { progressToken: 'same', of } },
        }),
      ),
    );
    for (const call of calls) {
      await call.over;
      const told = call.messages().filter(({ method }) => method === 'notifications/progress');
      expect(told.map(({ params }) => params)).toEqual(
        [0, 50, 100].map(progress => ({ progressToken: 'same', progress, total: 100 })),
      );
      expect(call.messages().at(-1)).toMatchObject({ id: 1, result: {} });
    }
    await stand.close();
  });

  it('a log message goes to the only session with a call, else to nobody', async () => {
    const stand = await openStand(odd());
    const [one, two] = [
      await openWireSession(stand.url, { roots: {} }),
      await openWireSession(stand.url),
    ];
    const alone = await one.call('log', { data: 'for one' });
    await alone.over;
    expect(alone.messages()).toMatchObject([{ params: { data: 'for one' } }, { result: {} }]);
    const asking = await one.call('ask', { method: 'roots/list' });
    await asking.heard('the question', isQuestion);
    const beside = await two.call('log', { data: 'for nobody' });
    await beside.over;
    expect(beside.messages()).toHaveLength(1);
    expect(asking.messages()).toHaveLength(1);
    await stand.close();
  });

  it('a log message below the level of a session is not sent to it', async () => {
    const stand = await openStand(odd());
    const [one, two] = [await openWireSession(stand.url), await openWireSession(stand.url)];
    const set = async (session: WireSession, level: string) =>
      (await session.send({ id: 'l', method: 'logging/setLevel', params: { level } })).over;
    await set(one, 'debug');
    await set(two, 'error');
    const logged = [await one.call('log', { data: 'x' }), await two.call('log', { data: 'x' })];
    await Promise.all(logged.map(call => call.over));
    expect(logged.map(call => call.messages().length)).toEqual([2, 1]);
    expect((await laterOf(one)).match(/level: \w+/gu)).toEqual(['level: debug', 'level: debug']);
    await stand.close();
  });

  it('the end of an elicitation goes to the session that was asked, also outside of a call', async () => {
    const stand = await openStand(odd());
    const can = { elicitation: { url: {} } };
    const [one, two] = [
      await openWireSession(stand.url, can),
      await openWireSession(stand.url, can),
    ];
    const [stream, other] = [await one.listen(), await two.listen()];
    const params = { mode: 'url', url: 'https://a.test', elicitationId: 'e1' };
    const asking = await one.call('ask', { method: 'elicitation/create', params });
    const { id } = await asking.heard('the question', isQuestion);
    await one.send({ id, result: { action: 'accept' } });
    await asking.over;
    await two.call('say', {
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'e1' },
    });
    const told = await stream.heard('the end', ({ method }) => method !== undefined);
    expect(told).toMatchObject({ params: { elicitationId: 'e1' } });
    expect(other.messages()).toEqual([]);
    await stand.close();
  });

  it('a list change goes to every session that listens', async () => {
    const stand = await openStand(conformance('1'));
    const sessions = [await openWireSession(stand.url), await openWireSession(stand.url)];
    const streams = await Promise.all(sessions.map(session => session.listen()));
    await sessions[0]?.call('test_trigger_tool_change');
    for (const stream of streams) {
      const told = await stream.heard('the change', ({ method }) => method !== undefined);
      expect(told['method']).toBe('notifications/tools/list_changed');
    }
    await stand.close();
  });

  it('a resource update goes to the subscribed sessions, until the last one unsubscribes', async () => {
    const stand = await openStand(conformance('1'));
    const uri = 'test://watched-resource';
    const sessions = await Promise.all([1, 2, 3].map(() => openWireSession(stand.url)));
    const [one, two, three] = sessions as [WireSession, WireSession, WireSession];
    const streams = await Promise.all(sessions.map(session => session.listen()));
    const ask = async (session: WireSession, what: string) => {
      const answer = await session.send({ id: 's', method: `resources/${what}`, params: { uri } });
      await answer.over;
      return answer.messages()[0];
    };
    const count = (of: number) => streams[of]?.messages().length;
    const trigger = async (expected: number[]) => {
      await (
        await three.call('test_trigger_resource_update')
      ).over;
      // Sent afterwards: once this one has arrived, all earlier ones have arrived too.
      await (
        await three.call('test_trigger_tool_change')
      ).over;
      await until('the news', 60_000, async () =>
        expected.every((wanted, of) => count(of) === wanted) ? true : undefined,
      );
    };
    expect(await ask(one, 'subscribe')).toMatchObject({ result: {} });
    expect(await ask(two, 'subscribe')).toMatchObject({ result: {} });
    await trigger([2, 2, 1]);
    expect(await ask(one, 'unsubscribe')).toMatchObject({ result: {} });
    await trigger([3, 4, 2]);
    await two.end();
    await trigger([4, 4, 3]);
    await stand.close();
  });

  it('a new notification stream replaces the earlier one', async () => {
    const stand = await openStand(odd());
    const session = await openWireSession(stand.url);
    const first = await session.listen();
    const second = await session.listen();
    await first.over;
    await session.end();
    await second.over;
    expect(second.messages()).toEqual([]);
    await stand.close();
  });

  it('comments are sent while a stream is silent', async () => {
    const stand = await openStand(odd(), { limits: { keepAliveMs: 10 } });
    const stream = await (await openWireSession(stand.url)).listen();
    await until(
      'a comment',
      60_000,
      async () => stream.text().includes(': keep-alive') || undefined,
    );
    expect(stream.messages()).toEqual([]);
    await stand.close();
  });
});

describe('[CLI-1] a modern server', () => {
  it('notifies two listeners of changes under their own subscription, and ends their streams when it stops', async () => {
    const stand = await openStand(conformance('2'));
    const streams = [await hear('modern', stand), await hear('modern', stand)];
    const client = openModern(stand);
    expect(textOf(await client.call('test_trigger_tool_change'))).toBe('Changed');
    for (const stream of streams) {
      await until('the change', 60_000, async () => stream.methods().length > 0 || undefined);
      expect(stream.methods()).toEqual(['notifications/tools/list_changed']);
    }
    streams[0]?.close();
    await client.call('test_trigger_prompt_change');
    await until('the change', 60_000, async () => streams[1]?.methods().length === 2 || undefined);
    await stand.server.child.stop();
    await until('the end', 60_000, async () => streams[1]?.isOver() || undefined);
    await stand.close();
  });

  it('sends progress and logs to the caller', async () => {
    const stand = await openStand(conformance('2'));
    const client = openModern(stand);
    const progress = await client.request(
      'tools/call',
      '{"name":"test_tool_with_progress","_meta":{"progressToken":"mine"}}',
    );
    const tokens = progress.messages.slice(0, -1).map(text => JSON.parse(text) as object);
    expect(tokens).toHaveLength(3);
    expect(tokens[0]).toMatchObject({ params: { progressToken: 'mine', progress: 0 } });
    const logged = await client.request(
      'tools/call',
      '{"name":"test_logging_tool","_meta":{"io.modelcontextprotocol/logLevel":"info"}}',
    );
    expect(logged.messages[0]).toContain('test_logging_tool runs');
    await stand.close();
  });

  it('[MCP-4] sends its own notifications to the only running call, with two calls to none', async () => {
    const stand = await openStand({ command: process.execPath, args: ['-e', TELLING] });
    const client = openModern(stand);
    const alone = await client.call('tell');
    expect(alone.messages.slice(0, -1).map(text => JSON.parse(text) as object)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/com.example/own', params: { a: 1 } },
    ]);
    const pair = await Promise.all([client.call('pair'), client.call('pair')]);
    expect(pair.map(({ messages }) => messages.length)).toEqual([1, 1]);
    await stand.close();
  });
});
