/**
 * Requests the health address of a server: one GET, under the address policy; redirects are not followed and the body is not read. The
 * server's credential is sent only to the server's own origin.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Deadline } from '../../http/deadline.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { decideAddress } from '../../http/address-policy.ts';
import { refusalOf } from '../protocol/status-error.ts';

/** @throws PorticoError with an `upstream_*` code if the answer is not 2xx */
export async function getHealthUrl(
  { url: serverUrl, headers, hidden }: UpstreamEndpoint,
  url: string,
  allowsLoopback: boolean,
  deadline: Deadline,
): Promise<void> {
  const decision = decideAddress(url, allowsLoopback);
  if (!decision.allowed) throw new PorticoError('upstream_refused_address', decision.reason);
  const isOwn = new URL(serverUrl).origin === decision.url.origin;
  let response: Response;
  try {
    response = await fetch(url, {
      headers: isOwn ? headers : {},
      redirect: 'manual',
      signal: deadline.signal,
    });
  } catch {
    throw deadline.explain(new PorticoError('upstream_unreachable'));
  }
  response.body?.cancel().catch(() => {});
  if (!response.ok) throw refusalOf(response, { hidden: isOwn ? hidden : [] });
}
