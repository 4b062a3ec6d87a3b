/** Which client may answer a server request, and which tools are offered: the decisions of `cli/src/connect/`. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readMessage, withMembers } from '../../../cli/src/connect/child-message.ts';
import { EventStream, Room } from '../../../cli/src/connect/event-stream.ts';
import { answers } from '../../../cli/src/connect/server-requests.ts';
import { Sessions, type Session } from '../../../cli/src/connect/sessions.ts';
import { ToolFilter, type ToolRules } from '../../../cli/src/connect/tool-filter.ts';

describe('[CLI-1] tools that a machine offers', () => {
  it.each<[ToolRules, string, boolean]>([
    [{}, 'any', true],
    [{ allow: [] }, 'any', false],
    [{ allow: ['read_*'] }, 'read_file', true],
    [{ allow: ['read_*'] }, 'pre_read_file', false],
    [{ allow: ['*file'] }, 'read_file', true],
    [{ allow: ['*'], deny: ['delete_*'] }, 'delete_all', false],
    [{ deny: ['a.b'] }, 'axb', true],
    [{ deny: ['a.b'] }, 'a.b', false],
    [{ deny: ['*_x_*'] }, 'a_x_\nb', false],
  ])('%j: %s', (rules, name, isAllowed) => {
    expect(new ToolFilter(rules).allows(name)).toBe(isAllowed);
  });

  it('are filtered out of a list, which is otherwise unchanged', () => {
    const list = (tools: string) =>
      `{"jsonrpc":"2.0","id":1,"result":{"tools":${tools},"nextCursor":"n","ttlMs":1.0}}`;
    const line = list('[ {"name":"a", "n":1.0},{"name":"b"},null,{"title":"none"} ,{"name":"c"}]');
    const raw = readMessage(line)?.raw ?? new Map<string, string>();
    const filter = new ToolFilter({ deny: ['b'] });
    expect(withMembers(raw, ...filter.ofList(raw))).toBe(
      list('[{"name":"a", "n":1.0},{"name":"c"}]'),
    );
    expect(new ToolFilter().ofList(raw)).toEqual([]);
    const error = readMessage('{"jsonrpc":"2.0","id":1,"error":{}}')?.raw ?? new Map();
    expect(filter.ofList(error)).toEqual([]);
  });
});

describe('[CLI-1] which clients can answer a server request', () => {
  it.each([
    [{}, 'sampling/createMessage', {}, false],
    [{ sampling: {} }, 'sampling/createMessage', {}, true],
    [{ sampling: {} }, 'roots/list', {}, false],
    [{ elicitation: {} }, 'elicitation/create', {}, true],
    [{ elicitation: {} }, 'elicitation/create', { mode: 'url' }, false],
    [{ elicitation: { url: {} } }, 'elicitation/create', { mode: 'url' }, true],
    [{ elicitation: { url: {} } }, 'elicitation/create', { mode: 'form' }, false],
    [{ elicitation: { form: {}, url: {} } }, 'elicitation/create', {}, true],
    [{ sampling: {} }, 'tools/list', {}, false],
  ])('%j for %s %j: %s', (capabilities, method, params, canAnswer) => {
    expect(answers(capabilities, method, params)).toBe(canAnswer);
  });
});

describe('[CLI-1] sessions with a child', () => {
  it('end when idle, least recently used first, but not while they are busy', () => {
    const busy = new Set<Session>();
    const ended: Session[] = [];
    const sessions = new Sessions({
      limits: { sessions: 2, idleMs: 100 },
      isBusy: session => busy.has(session),
      onEnd: session => void ended.push(session),
    });
    const one = sessions.open({}, 0) as Session;
    const two = sessions.open({}, 10) as Session;
    sessions.find(one.id, 20);
    const three = sessions.open({}, 30) as Session;
    expect(ended).toEqual([two]);
    busy.add(one).add(three);
    expect(sessions.open({}, 40)).toBeUndefined();
    expect(sessions.find(one.id, 1_000)).toBe(one);
    busy.clear();
    expect(sessions.find(three.id, 1_050)).toBe(three);
    expect(sessions.find(one.id, 1_120)).toBeUndefined();
    expect(ended).toEqual([two, one]);
  });
});

describe('[CLI-1] responses on their way', () => {
  afterEach(() => void vi.useRealTimers());

  const limits = { keepAliveMs: 60_000, streamBytes: 100, answerBytes: 150, stallMs: 5 };

  it('are read in order; notifications beyond the bound are dropped, the response is not', async () => {
    const stream = new EventStream(new Room(limits), limits);
    const message = `"${'x'.repeat(98)}"`;
    expect(stream.push(message)).toBe(true);
    expect(stream.push('late')).toBe(false);
    stream.finish('response');
    stream.finish('nothing after it');
    const chunks: string[] = [];
    for await (const chunk of stream) chunks.push(new TextDecoder().decode(chunk));
    expect(chunks).toEqual([
      `event: message\ndata: ${message}\n\n`,
      'event: message\ndata: response\n\n',
    ]);
    expect(stream.held).toBe(0);
  });

  it('block the child while they exceed the bound, until they are read or abandoned', async () => {
    const room = new Room(limits);
    const [small, large] = [new EventStream(room, limits), new EventStream(room, limits)];
    small.finishPlain('x'.repeat(60));
    large.finishPlain('x'.repeat(100));
    expect(room.isFull).toBe(true);
    await room.wait();
    expect(room.isFull).toBe(false);
    expect([small.held, large.held]).toEqual([60, 0]);
    const read: number[] = [];
    for await (const chunk of small) read.push(chunk.length);
    for await (const chunk of large) read.push(chunk.length);
    expect(read).toEqual([60]);
  });

  it('[SEC-4] are held until their reader has finished, not until it begins', async () => {
    const room = new Room(limits);
    const stream = new EventStream(room, limits);
    stream.finishPlain('x'.repeat(160));
    const reader = stream[Symbol.asyncIterator]();
    expect((await reader.next()).value).toHaveLength(160);
    expect([room.isFull, stream.held]).toEqual([true, 160]);
    expect((await reader.next()).done).toBe(true);
    expect([room.isFull, stream.held]).toEqual([false, 0]);
  });

  it('[SEC-4] are not dropped while they are read, however slowly', async () => {
    const slow = { ...limits, answerBytes: 100_000, stallMs: 1_000 };
    vi.useFakeTimers();
    const room = new Room(slow);
    const [read, unread] = [new EventStream(room, slow), new EventStream(room, slow)];
    read.finishPlain('x'.repeat(300_000));
    unread.finishPlain('x'.repeat(190_000));
    const waited = room.wait();
    let bytes = 0;
    for await (const piece of read) {
      bytes += piece.length;
      await vi.advanceTimersByTimeAsync(900);
    }
    await waited;
    expect([read.held, unread.held]).toEqual([0, 0]);
    expect(bytes).toBe(300_000);
  });
});
