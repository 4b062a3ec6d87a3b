/** Messages of a server on a stream that calls share: which call gets each one, when it passes to another, and what is answered. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { UpstreamMessage, UpstreamRequest } from '../../../src/upstream/protocol/message.ts';
import { SharedStream, type Listener } from '../../../src/upstream/streams/shared-stream.ts';

let sent: { id: unknown; result?: unknown; error?: { code: number } }[];
let stream: SharedStream;

const open = (graceMs = 0) =>
  new SharedStream({
    graceMs,
    async send(text) {
      sent.push(JSON.parse(text) as (typeof sent)[number]);
    },
  });

/** A call that notes the messages it gets. */
function listen(at: SharedStream, abilities = ['elicitation/create'], progressToken?: string) {
  const heard: UpstreamMessage[] = [];
  const listener: Listener = {
    canAnswer: method => abilities.includes(method),
    progressToken,
    put: message => void heard.push(message),
  };
  at.join(listener);
  const asked = () => heard.filter(message => message.kind === 'request');
  return { listener, heard, asked, leave: () => at.leave(listener) };
}

const question = (id: number, method = 'elicitation/create'): UpstreamRequest => ({
  kind: 'request',
  method,
  id,
  params: '{}',
});
const notification = (method: string, params: object) => ({
  kind: 'notification' as const,
  method,
  text: JSON.stringify({ jsonrpc: '2.0', method, params }),
});
const yes = { result: '{"ok":true}' };
const tick = () => new Promise(resolve => setTimeout(resolve, 0));

beforeEach(() => {
  sent = [];
  stream = open();
});

describe('a server request on a shared stream', () => {
  it('[MCP-4] [MCP-5] goes to the latest call with the capability', async () => {
    const [first, able, mute] = [listen(stream), listen(stream), listen(stream, [])];
    stream.take(question(1));
    expect([first, able, mute].map(({ asked }) => asked().length)).toEqual([0, 1, 0]);
    await able.asked()[0]?.reply?.(yes);
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, result: { ok: true } }]);
  });

  it('[MCP-4] [MCP-5] passes on if its call leaves it open, and only the last holder answers, once', async () => {
    const calls = [listen(stream), listen(stream), listen(stream)];
    stream.take(question(1));
    calls[2]?.leave();
    calls[1]?.leave();
    expect(calls.map(({ asked }) => asked().length)).toEqual([1, 1, 1]);
    await calls[2]?.asked()[0]?.reply?.(yes);
    await calls[1]?.asked()[0]?.reply?.(yes);
    expect(sent).toEqual([]);
    await calls[0]?.asked()[0]?.reply?.(yes);
    await calls[0]?.asked()[0]?.reply?.(yes);
    calls[0]?.leave();
    await tick();
    expect(sent).toHaveLength(1);
  });

  it('[MCP-5] [UP-3] is answered with an error if no call is left, after the server learned of the end', async () => {
    const call = listen(stream);
    stream.take(question(1));
    let tell = () => {};
    stream.leave(call.listener, new Promise<void>(resolve => (tell = resolve)));
    await tick();
    expect(sent).toEqual([]);
    tell();
    await tick();
    expect(sent).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    await call.asked()[0]?.reply?.(yes);
    expect(sent).toHaveLength(1);
  });

  it('[MCP-5] waits for a call that joins late, but not for ever', async () => {
    vi.useFakeTimers();
    stream = open(100);
    stream.take(question(1));
    stream.take(question(2));
    await vi.advanceTimersByTimeAsync(99);
    const late = listen(stream);
    await late.asked()[1]?.reply?.(yes);
    late.leave();
    await vi.advanceTimersByTimeAsync(99);
    expect(sent.map(({ id }) => id)).toEqual([2]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toMatchObject([{ id: 2 }, { id: 1, error: { code: -32603 } }]);
    vi.useRealTimers();
  });

  it('[MCP-5] that is repeated is asked once, and a ping is answered here', async () => {
    const call = listen(stream);
    stream.take(question(1));
    stream.take(question(1));
    stream.take(question(2, 'ping'));
    expect(call.asked()).toHaveLength(1);
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 2, result: {} }]);
  });

  it('[MCP-5] [SEC-4] is refused if too many wait', () => {
    const call = listen(stream);
    for (let id = 0; id < 201; id += 1) stream.take(question(id));
    expect(call.asked()).toHaveLength(200);
    expect(sent).toMatchObject([{ id: 200, error: { code: -32601 } }]);
  });

  it('[MCP-5] [SEC-4] is refused if those that wait are too large together', () => {
    const call = listen(stream);
    const params = `"${'x'.repeat(3_000_000)}"`;
    for (let id = 0; id < 20; id += 1) stream.take({ ...question(id), params });
    expect(call.asked()).toHaveLength(2);
    expect(sent).toHaveLength(18);
  });

  it.each(['ping', 'roots/list'])(
    '[MCP-5] [SEC-4] of a flood of %s is answered only while answers arrive',
    async method => {
      let sends = 0;
      const deaf = new SharedStream({
        graceMs: 0,
        send() {
          sends += 1;
          return new Promise<void>(() => {});
        },
      });
      listen(deaf);
      for (let id = 0; id < 1_000; id += 1) deaf.take(question(id, method));
      await tick();
      expect(sends).toBeLessThanOrEqual(200);
    },
  );

  it('[MCP-5] ends with the stream', async () => {
    const call = listen(stream);
    stream.take(question(1));
    stream.close();
    call.leave();
    await call.asked()[0]?.reply?.(yes);
    await tick();
    expect(sent).toEqual([]);
  });
});

it('[MCP-4] progress goes to the call of its token, a log message to the latest call', () => {
  const tokens = ['"a"', '1', '"2"', '2'];
  const calls = [...tokens.map(token => listen(stream, [], token)), listen(stream)];
  stream.take(notification('notifications/progress', { progressToken: 'a', progress: 1 }));
  stream.take(notification('notifications/progress', { progressToken: 1, progress: 1 }));
  // The digits of a number that one call sent, which the server returns as text; another call sent that text itself.
  stream.take(notification('notifications/progress', { progressToken: '1', progress: 1 }));
  stream.take(notification('notifications/progress', { progressToken: '2', progress: 1 }));
  stream.take(notification('notifications/progress', { progressToken: '3', progress: 1 }));
  stream.take(notification('notifications/message', { level: 'info', data: 1 }));
  stream.take(notification('notifications/tools/list_changed', {}));
  expect(calls.map(({ heard }) => heard.length)).toEqual([1, 2, 1, 0, 1]);
});
