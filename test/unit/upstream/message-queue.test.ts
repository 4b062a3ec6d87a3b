/** What waits for a call on a stream that is read at the server's pace. */
import { expect, it } from 'vitest';
import { joinStream } from '../../../src/upstream/streams/call-listener.ts';
import { SharedStream } from '../../../src/upstream/streams/shared-stream.ts';

const MIB = 1_048_576;

const progress = (chars: number) => {
  const method = 'notifications/progress';
  const params = { progressToken: 1, progress: 1, message: 'x'.repeat(chars) };
  const text = JSON.stringify({ jsonrpc: '2.0', method, params });
  return { kind: 'notification', method, text } as const;
};
const CALL = { capabilities: { roots: {} }, progressToken: '1' };

it('[SEC-4] a flood of notifications is bounded, and drops no server request', async () => {
  const stream = new SharedStream({ graceMs: 0, send: async () => {} });
  const call = joinStream(stream, CALL);
  const flood = () => {
    for (let i = 0; i < 20; i += 1) stream.take(progress(MIB));
  };
  const taken = async () => {
    const kinds: (string | undefined)[] = [];
    do kinds.push((await call.take())?.kind);
    while (kinds.at(-1) === 'notification');
    return kinds;
  };
  for (const id of [1, 2]) {
    flood();
    stream.take({ kind: 'request', method: 'roots/list', id, params: '{}' });
    // The space is free again once the messages were read.
    expect(await taken()).toEqual([...Array<string>(7).fill('notification'), 'request']);
  }
  call.close();
});

it('[SEC-4] a large notification does not wait for a call that may never come', async () => {
  const stream = new SharedStream({ graceMs: 60_000, send: async () => {} });
  stream.take(progress(MIB));
  stream.take(progress(1));
  const call = joinStream(stream, CALL);
  expect(await call.take()).toEqual(progress(1));
  call.close();
});

it('[SEC-4] server requests that nobody reads end the call, though each is cancelled', async () => {
  const stream = new SharedStream({ graceMs: 0, send: async () => {} });
  const call = joinStream(stream, CALL);
  const params = `"${'x'.repeat(MIB)}"`;
  for (let id = 0; id < 100; id += 1) {
    stream.take({ kind: 'request', method: 'roots/list', id, params });
    const method = 'notifications/cancelled';
    const text = JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: id } });
    stream.take({ kind: 'notification', method, text });
  }
  let count = 0;
  const readAll = async () => {
    while (await call.take()) count += 1;
  };
  await expect(readAll()).rejects.toMatchObject({ code: 'upstream_too_large' });
  expect(count).toBeLessThan(40);
  call.close();
});
