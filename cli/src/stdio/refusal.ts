/** What the host is told where the gateway gave it no answer: an error under the host's own id, in words for people. Pure. */
import {
  idText,
  isObject,
  RPC,
  type JsonObject,
  type RequestId,
} from '../../../src/shared/protocol.ts';

/** A message could not be delivered, or its answer not be read; `message` says why and what to do. */
export class RelayError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, code: number = RPC.internalError, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Text of an error response. */
export function errorText(id: RequestId | null, error: RelayError): string {
  const { code, message, data } = error;
  const told = { code, message, ...(data === undefined ? {} : { data }) };
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(told)}}`;
}

/**
 * What is thrown by a request, as what the host is told.
 * @param origin of the gateway
 * @param hasAnswer the gateway had begun to answer
 */
export function toRelayError(thrown: unknown, origin: string, hasAnswer: boolean): RelayError {
  if (thrown instanceof RelayError) return thrown;
  if (hasAnswer) {
    const why = `the answer of the gateway broke off: ${reasonOf(thrown)}`;
    return new RelayError(`${why}; whether the request was carried out is not known`);
  }
  return new RelayError(
    `the gateway at ${origin} cannot be reached (${reasonOf(thrown)}); is it running?`,
  );
}

/** The innermost reason of a failed request. */
export function reasonOf(thrown: unknown): string {
  let innermost = thrown;
  for (let depth = 0; depth < 8; depth += 1) {
    if (!(innermost instanceof Error) || innermost.cause === undefined) break;
    innermost = innermost.cause;
  }
  // Several addresses were tried, each has its own error.
  if (innermost instanceof AggregateError) innermost = innermost.errors[0] ?? innermost;
  if (!(innermost instanceof Error)) return String(innermost);
  const { code } = innermost as NodeJS.ErrnoException;
  return innermost.message || (code ?? innermost.name);
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'the token is missing, wrong or revoked; see PORTICO_TOKEN',
  403: 'the token may not do this',
  404: 'nothing is there for this token; see PORTICO_URL',
  413: 'the message is too large',
  429: 'too many requests; try again later',
};

/**
 * A status other than success as what the host is told.
 * @param body what came with it, parsed where it is JSON
 */
export function refusedByGateway(status: number, body: unknown): RelayError {
  const error: JsonObject = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const hint = HINTS[status];
  const said = typeof error['message'] === 'string' ? `: ${error['message']}` : '';
  const text = `the gateway refused with ${status}${said}${hint === undefined ? '' : ` (${hint})`}`;
  const code = Number.isSafeInteger(error['code']) ? Number(error['code']) : RPC.internalError;
  return new RelayError(text, code, error['data']);
}
