/**
 * Sends one message to a webhook, once. The address must pass the same policy as those of servers, redirects are not followed, only the
 * status and `Retry-After` of the response are used, and there is a timeout. Problems are described in our own words.
 */
import { decideAddress } from '../http/address-policy.ts';
import { toRetryAfterMs } from '../shared/util/retry-after.ts';
import { IMPLEMENTATION } from '../shared/protocol.ts';
import { toSignedHeaders } from './signature.ts';
import { secretsOf, type Target } from './sealed-address.ts';

/** Timeout until the response, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Longest `Retry-After` that is honoured, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** The outcome. */
export interface Sent {
  isDelivered: boolean;
  /** Status of the response; null where there was none. */
  status: number | null;
  problem: string | null;
  /** The wait that the receiver asked for, in milliseconds. */
  retryAfterMs: number;
}

const failed = (problem: string, status: number | null = null, retryAfterMs = 0): Sent => ({
  isDelivered: false,
  status,
  problem,
  retryAfterMs,
});

export interface Message {
  id: string;
  body: string;
}

export async function send(
  target: Target,
  { id, body }: Message,
  allowsLoopback: boolean,
): Promise<Sent> {
  if (!decideAddress(target.url, allowsLoopback).allowed)
    return failed('its address is not allowed');
  const now = Date.now();
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Portico/${IMPLEMENTATION.version}`,
    ...(await toSignedHeaders(secretsOf(target, now), id, body, now)),
  };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const sent = { method: 'POST', headers, body, redirect: 'manual', signal } as const;
    const response = await fetch(target.url, sent);
    response.body?.cancel().catch(() => {});
    return judge(response);
  } catch {
    return failed(signal.aborted ? `no answer within ${TIMEOUT_MS} ms` : 'it cannot be reached');
  }
}

function judge({ ok, status, headers }: Response): Sent {
  if (ok) return { isDelivered: true, status, problem: null, retryAfterMs: 0 };
  if (status >= 300 && status < 400) return failed('it redirects, which is not followed', status);
  const waitMs = toRetryAfterMs(headers, Date.now(), MAX_RETRY_AFTER_MS) ?? 0;
  return failed(`it answered ${status}`, status, waitMs);
}
