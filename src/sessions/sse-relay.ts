/**
 * Relays the messages of an HTTP+SSE client through its object: each comes in a POST of its own and goes to the Worker that holds the
 * client's stream, on a hibernating WebSocket. Nothing is stored.
 */
import { toPieces } from './stream-frames.ts';

const TAG = 'relay';

/** Accepts the socket of the Worker that holds the stream. */
export function acceptRelay(state: DurableObjectState): Response {
  const { 0: worker, 1: object } = new WebSocketPair();
  state.acceptWebSocket(object, [TAG]);
  return new Response(null, { status: 101, webSocket: worker });
}

/**
 * Passes on a message with the credential it came with.
 * @returns false where no Worker holds the stream
 */
export function relay(state: DurableObjectState, text: string, authorization: string): boolean {
  const socket = state.getWebSockets(TAG).find(({ readyState }) => readyState === WebSocket.OPEN);
  if (!socket) return false;
  for (const piece of toPieces({ id: authorization, text })) socket.send(piece);
  return true;
}
