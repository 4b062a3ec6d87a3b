/**
 * The messages of an old client on their way through its object: they come with POSTs of their own
 * and go to the Worker that holds the client's stream, on a hibernating WebSocket. Nothing is kept.
 */
import { toPieces } from './stream-frames.ts';

const TAG = 'relay';

/** Take the socket of the Worker that holds the stream. */
export function acceptRelay(state: DurableObjectState): Response {
  const { 0: worker, 1: object } = new WebSocketPair();
  state.acceptWebSocket(object, [TAG]);
  return new Response(null, { status: 101, webSocket: worker });
}

/**
 * Hand on a message under the credential it came with.
 * @returns false where no Worker holds the stream
 */
export function relay(state: DurableObjectState, text: string, authorization: string): boolean {
  const socket = state.getWebSockets(TAG).find(({ readyState }) => readyState === WebSocket.OPEN);
  if (!socket) return false;
  for (const piece of toPieces({ id: authorization, text })) socket.send(piece);
  return true;
}
