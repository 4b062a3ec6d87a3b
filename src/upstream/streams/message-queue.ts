/**
 * What a server sent on a stream that calls share, while it waits for the reader of its call. Such a stream is read at the pace of the
 * server, whatever the pace of the clients: notifications that find too much waiting are dropped, and server requests that still find too
 * much end the call.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { AsyncQueue } from '../../shared/util/async-queue.ts';
import type { UpstreamMessage } from '../protocol/message.ts';

/** Most characters of notifications that wait for one call. */
const MAX_WAITING_CHARS = 8_388_608;
/** What a server request weighs besides its params. */
const REQUEST_CHARS = 256;

export const createMessageQueue = (): AsyncQueue<UpstreamMessage> =>
  new AsyncQueue({ max: MAX_WAITING_CHARS, weigh, mayDrop, full });

function weigh(message: UpstreamMessage): number {
  if (message.kind === 'notification') return message.text.length;
  return message.kind === 'request' ? REQUEST_CHARS + message.params.length : 0;
}

/** A cancellation is never dropped: its request would stay open. */
const mayDrop = (message: UpstreamMessage): boolean =>
  message.kind === 'notification' && message.method !== 'notifications/cancelled';

const full = () =>
  new PorticoError('upstream_too_large', 'The server sends more requests than can wait');
