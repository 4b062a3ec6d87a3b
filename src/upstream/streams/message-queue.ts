/**
 * What a server sent on a stream that calls share, while it waits for the reader of its call. Such a stream is read at the pace of the
 * server, whatever the pace of the clients: notifications that find too much waiting are dropped.
 */
import { AsyncQueue } from '../../shared/util/async-queue.ts';
import type { UpstreamMessage } from '../protocol/message.ts';

/** Most characters of notifications that wait for one call. */
const MAX_WAITING_CHARS = 8_388_608;

export const createMessageQueue = (): AsyncQueue<UpstreamMessage> =>
  new AsyncQueue({ max: MAX_WAITING_CHARS, weigh });

/** A cancellation comes once at most for each server request, and is never dropped. */
function weigh(message: UpstreamMessage): number {
  const mayDrop = message.kind === 'notification' && message.method !== 'notifications/cancelled';
  return mayDrop ? message.text.length : 0;
}
