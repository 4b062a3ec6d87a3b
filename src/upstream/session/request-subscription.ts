/** Subscribes to a resource at a legacy server, or unsubscribes, in the session of a channel. */
import type { Deadline } from '../../http/deadline.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { withoutSecrets } from '../protocol/message.ts';
import type { Channel } from './channel.ts';

/**
 * @param hidden what the server's refusal must not repeat
 * @throws PorticoError `upstream_4xx` with the server's own error, or another `upstream_*` code; SessionForgotten
 */
export async function requestSubscription(
  uri: string,
  method: 'resources/subscribe' | 'resources/unsubscribe',
  channel: Channel,
  deadline: Deadline,
  hidden: readonly string[],
): Promise<void> {
  const params = new Map([['uri', JSON.stringify(uri)]]);
  const response = withoutSecrets(await channel.request(method, params, deadline), hidden);
  if (!('error' in response)) return;
  const { error: serverError } = response;
  throw new PorticoError('upstream_4xx', 'The server refused the subscription', { serverError });
}
