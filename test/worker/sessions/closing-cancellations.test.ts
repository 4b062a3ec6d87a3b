/** A client cancels a call whose socket is closing. */
import { expect, it } from 'vitest';
import { CancelledCalls } from '../../../src/sessions/cancellations.ts';

it('[MCP-5] that fails nothing, and reaches the next call of the same id', () => {
  const sent: string[] = [];
  const socket = (readyState: number) => ({
    readyState,
    send(text: string) {
      if (readyState !== WebSocket.OPEN) throw new TypeError('send() after close()');
      sent.push(text);
    },
  });
  const sockets = [socket(WebSocket.CLOSED)];
  const state = { getWebSockets: () => sockets, acceptWebSocket: () => {} };
  const cancelled = new CancelledCalls(state as unknown as DurableObjectState);
  expect(() => cancelled.cancel('a')).not.toThrow();
  sockets.push(socket(WebSocket.OPEN));
  cancelled.cancel('a');
  expect(sent).toEqual(['cancelled']);
});
