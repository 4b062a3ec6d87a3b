/** The open streams of a client that are connected to a Worker, and how to notify them. */
import { randomBytes, toBase64Url } from '../shared/crypto/base64url.ts';
import { mayReceive, type ListEvent } from '../shared/events.ts';
import { sendFrame } from './stream-frames.ts';
import { recheckText, type OpenStream } from './stream-opening.ts';

/** An open stream and the socket it is connected by. */
export interface Connected {
  stream: OpenStream;
  socket: WebSocket;
}

/**
 * Asks Workers to check again what their clients see: all of them after an access change; after a list change those whose clients want
 * these lists, and of a session's connections only the newest.
 * @returns whether a Worker of the session was asked
 */
export function requestRecheck(
  change: ListEvent | { access: 'changed' },
  connected: readonly Connected[],
): boolean {
  const mayWant = ({ stream }: Connected) =>
    'access' in change ||
    (mayReceive(stream.audience, change.serverId) &&
      change.lists.some(list => stream.lists.includes(list)));
  const concerned = connected.filter(mayWant);
  const newest = concerned.find(({ stream }) => stream.kind === 'session');
  const text = recheckText('access' in change ? [] : [change]);
  for (const known of concerned) {
    const isRequested = 'access' in change || known.stream.kind !== 'session' || known === newest;
    if (isRequested) sendFrame(known.socket, { id: '', text });
  }
  return newest !== undefined;
}

export const newId = () => toBase64Url(randomBytes(9));
