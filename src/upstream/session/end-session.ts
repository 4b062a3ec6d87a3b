/** Ends a session at a legacy upstream (DELETE). A courtesy: whether it works matters to nobody. */
import { createDeadline } from '../../http/deadline.ts';
import type { Destination } from '../endpoint.ts';
import { requestHeaders } from '../protocol/wire-request.ts';

export async function endSession(
  destination: Destination,
  session: { sessionId: string; protocolVersion: string },
): Promise<void> {
  if (session.sessionId === '') return;
  const deadline = createDeadline(5_000);
  await destination
    .fetch(destination.url, {
      method: 'DELETE',
      headers: requestHeaders(destination, { era: 'legacy', ...session }, ''),
      redirect: 'manual',
      signal: deadline.signal,
    })
    .then(response => response.body?.cancel())
    .catch(() => {});
  deadline.release();
}
