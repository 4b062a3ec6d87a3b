/** Returns the response of a reply, for callers that cannot pass on what comes before it. */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { RawResponse } from './message.ts';

/** @throws PorticoError `upstream_no_response` if the messages end without one */
export async function finalResponse(reply: {
  response?: RawResponse;
  messages?: AsyncIterable<
    RawResponse | { kind: 'notification' | 'question' | 'cancellation' | 'request' | 'foreign' }
  >;
}): Promise<RawResponse> {
  if (reply.response) return reply.response;
  for await (const message of reply.messages ?? []) {
    if (message.kind === 'response') return message;
  }
  throw new PorticoError('upstream_no_response');
}
