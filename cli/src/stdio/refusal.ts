/** Errors for the host where the gateway gave no response: under the host's own id, in words for people. Pure. */
import { Failure } from '../failure.ts';
import {
  idText,
  isObject,
  RPC,
  type JsonObject,
  type RequestId,
} from '../../../src/shared/protocol.ts';

/** A message could not be delivered, or its response could not be read; `message` says why and what to do. */
export class RelayError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, code: number = RPC.internalError, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Returns the JSON text of an error response. */
export function errorText(id: RequestId | null, error: RelayError): string {
  const { code, message, data } = error;
  const told = { code, message, ...(data === undefined ? {} : { data }) };
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(told)}}`;
}

/**
 * Turns an error of a request into the one for the host.
 * @param origin of the gateway
 * @param hasAnswer the response had begun
 */
export function toRelayError(thrown: unknown, origin: string, hasAnswer: boolean): RelayError {
  if (thrown instanceof RelayError) return thrown;
  if (thrown instanceof Failure) return new RelayError(thrown.message);
  if (hasAnswer) {
    const why = `the response of the gateway broke off: ${reasonOf(thrown)}`;
    return new RelayError(`${why}; it is unknown whether the request was carried out`);
  }
  return new RelayError(
    `the gateway at ${origin} cannot be reached (${reasonOf(thrown)}); is it running?`,
  );
}

/** Returns the innermost reason of a failed request. */
export function reasonOf(thrown: unknown): string {
  let innermost = thrown;
  for (let depth = 0; depth < 8; depth += 1) {
    if (!(innermost instanceof Error) || innermost.cause === undefined) break;
    innermost = innermost.cause;
  }
  // Several addresses were tried, and each has its own error.
  if (innermost instanceof AggregateError) innermost = innermost.errors[0] ?? innermost;
  if (!(innermost instanceof Error)) return String(innermost);
  const { code } = innermost as NodeJS.ErrnoException;
  return innermost.message || (code ?? innermost.name);
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'the token is missing, wrong or revoked; see PORTICO_TOKEN',
  403: 'the token may not do this',
  404: 'not found for this token; see PORTICO_URL',
  413: 'the message is too large',
  429: 'too many requests; try again later',
};

/**
 * Turns an unsuccessful status into the error for the host.
 * @param body of the response, parsed if it is JSON
 */
export function refusedByGateway(status: number, body: unknown): RelayError {
  const error: JsonObject = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const hint = HINTS[status];
  const said = typeof error['message'] === 'string' ? `: ${error['message']}` : '';
  const text = `the gateway refused with ${status}${said}${hint === undefined ? '' : ` (${hint})`}`;
  const code = Number.isSafeInteger(error['code']) ? Number(error['code']) : RPC.internalError;
  return new RelayError(text, code, error['data']);
}
