/** Ends a session at a legacy upstream (DELETE). A courtesy: nothing depends on its success. */
import { createDeadline } from '../../http/deadline.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { requestHeaders } from '../protocol/wire-request.ts';

export async function endSession(
  endpoint: UpstreamEndpoint,
  session: { sessionId: string; protocolVersion: string },
): Promise<void> {
  if (session.sessionId === '') return;
  const deadline = createDeadline(5_000);
  await endpoint
    .fetch(endpoint.url, {
      method: 'DELETE',
      headers: requestHeaders(endpoint, { era: 'legacy', ...session }, ''),
      redirect: 'manual',
      signal: deadline.signal,
    })
    .then(response => response.body?.cancel())
    .catch(() => {});
  deadline.release();
}
