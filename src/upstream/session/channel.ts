/**
 * Sends single requests to one upstream whose protocol is negotiated: for handshakes, discovery and listening, where the gateway reads the
 * answer itself. Calls of clients go through `attempt.ts`.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { finalResponse } from '../protocol/final-response.ts';
import { LIST_BOUNDS, type RawObject } from '../../shared/json/json-spans.ts';
import type { RequestBytes } from '../../shared/limits/bytes-in-flight.ts';
import type { Deadline } from '../../http/deadline.ts';
import { exchange, type Reply } from '../exchange.ts';
import type { RawResponse } from '../protocol/message.ts';
import { refusalOf } from '../protocol/status-error.ts';
import {
  nextRequestId,
  requestHeaders,
  requestText,
  type NegotiatedProtocol,
} from '../protocol/wire-request.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';

export interface Channel {
  /** @throws PorticoError with an `upstream_*` code; SessionForgotten */
  request(method: string, params: RawObject, deadline: Deadline): Promise<RawResponse>;
  notify(method: string, deadline: Deadline): Promise<void>;
  close(): void;
}

/** Creates a channel over Streamable HTTP. */
export function createHttpChannel(
  endpoint: UpstreamEndpoint,
  protocol: NegotiatedProtocol,
  maxBytes: number,
): Channel {
  return {
    async request(method, params, deadline) {
      const bytes = endpoint.openBytes?.();
      try {
        const reply = await post(endpoint, protocol, method, params, deadline, maxBytes, bytes);
        return await finalResponse(reply);
      } finally {
        bytes?.release();
      }
    },
    async notify(method, deadline) {
      await postNotification(endpoint, protocol, { method }, deadline);
    },
    close() {},
  };
}

/** POSTs one request and returns the reply with its headers. @param bytes counts what is read of it, and is released by the caller */
export function post(
  endpoint: UpstreamEndpoint,
  protocol: NegotiatedProtocol,
  method: string,
  params: RawObject,
  deadline: Deadline,
  maxBytes: number,
  bytes?: RequestBytes,
): Promise<Reply> {
  const id = nextRequestId();
  const name = params.get('name') ?? params.get('uri');
  const headers = requestHeaders(
    endpoint,
    protocol,
    method,
    name === undefined ? undefined : (JSON.parse(name) as string),
  );
  const body = requestText({ method, params }, id, protocol.era);
  const inSession = Boolean(protocol.sessionId);
  const bounds = method.endsWith('/list') ? LIST_BOUNDS : undefined;
  return exchange({ endpoint, headers, body, id, inSession, bounds, bytes }, deadline, maxBytes);
}

/** POSTs a notification; any 2xx counts as success. */
export async function postNotification(
  endpoint: UpstreamEndpoint,
  protocol: NegotiatedProtocol,
  notification: { method: string; params?: unknown },
  deadline: Deadline,
): Promise<void> {
  let response: Response;
  try {
    response = await endpoint.fetch(endpoint.url, {
      method: 'POST',
      headers: requestHeaders(endpoint, protocol, notification.method),
      body: JSON.stringify({ jsonrpc: '2.0', ...notification }),
      redirect: 'manual',
      signal: deadline.signal,
    });
  } catch {
    throw deadline.explain(new PorticoError('upstream_unreachable'));
  }
  response.body?.cancel().catch(() => {});
  if (!response.ok) throw refusalOf(response, endpoint);
}
