/** The open streams of a client that are connected to a Worker: how each is told something. */
import { randomBytes, toBase64Url } from '../shared/crypto/base64url.ts';
import { mayHear, type ListEvent } from '../shared/events.ts';
import { sendFrame } from './stream-frames.ts';
import { recheckText, type OpenStream } from './stream-opening.ts';

/** An open stream and the socket it is connected by. */
export interface Connected {
  stream: OpenStream;
  socket: WebSocket;
}

/**
 * Have Workers look: at what they may see, all of them; at lists, those whose clients want to hear of them, of a session's
 * connections the newest.
 * @returns whether one of the session's was asked
 */
export function askToRecheck(
  change: ListEvent | { access: 'changed' },
  connected: readonly Connected[],
): boolean {
  const mayWant = ({ stream }: Connected) =>
    'access' in change ||
    (mayHear(stream.audience, change.serverId) &&
      change.lists.some(list => stream.lists.includes(list)));
  const concerned = connected.filter(mayWant);
  const newest = concerned.find(({ stream }) => stream.kind === 'session');
  const text = recheckText('access' in change ? [] : [change]);
  for (const known of concerned) {
    const isAsked = 'access' in change || known.stream.kind !== 'session' || known === newest;
    if (isAsked) sendFrame(known.socket, { id: '', text });
  }
  return newest !== undefined;
}

export const newId = () => toBase64Url(randomBytes(9));
