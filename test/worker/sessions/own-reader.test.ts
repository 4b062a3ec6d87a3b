/** The object's half of streams that the client's own Worker reads: what it knows of a stream that was slow to open. */
import { afterEach, expect, it, vi } from 'vitest';
import { OwnStreamReader, type ReaderEvent } from '../../../src/sessions/own-reader.ts';
import { toPieces } from '../../../src/sessions/stream-frames.ts';

afterEach(() => void vi.useRealTimers());

const SESSION = { sessionId: 'u', protocolVersion: '2025-11-25', credentialKey: 'k' };

it('[MCP-5] [EDGE-2] knows a stream that was reported as open after a call waited for it in vain', async () => {
  vi.useFakeTimers();
  const sockets: WebSocket[] = [];
  const state = {
    waitUntil() {},
    getWebSockets: () => sockets,
    acceptWebSocket(socket: WebSocket) {
      socket.accept();
      sockets.push(socket);
    },
  };
  const reader = new OwnStreamReader(state as unknown as DurableObjectState, {
    sessions: async () => [],
    onMessage() {},
    onState() {},
    onChange: async () => {},
  });
  reader.accept();
  const waited = reader.read('s', SESSION);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await waited).toBe('closed');
  const event: ReaderEvent = { kind: 'state', state: 'open', serverId: 's', session: SESSION };
  const [socket] = sockets;
  const [piece = ''] = toPieces({ id: '', text: JSON.stringify(event) });
  if (socket) reader.receive(socket, piece);
  expect(await reader.read('s', SESSION)).toBe('open');
});
