/** Server requests to clients on their way through a call, and their cancellations. Pure. */
import { withExactIds } from '../../shared/json/json-spans.ts';
import { isObject, isRequestId, type RequestId } from '../../shared/protocol.ts';

/** A client's answer as raw JSON: its result, or its error. */
export type RawAnswer = { result: string } | { error: string };

/** A server request on its way to the client. */
export interface Question {
  kind: 'question';
  method: string;
  /** Raw params. */
  params: string;
  /** Sends the server its answer; may be called once. */
  answer(answer: RawAnswer): Promise<void>;
}

/** The server has cancelled a request: it need not be answered any more. */
export interface RequestCancellation {
  kind: 'cancellation';
  of: Question;
  /** Raw params of the notification, with the reason if the server gives one. */
  params: string;
}

/** Returns the id of the server request that a notification cancels, if it cancels one. */
export function cancelledId(method: string, text: string): RequestId | undefined {
  if (method !== 'notifications/cancelled') return undefined;
  const { params } = withExactIds(JSON.parse(text), text) as { params?: unknown };
  const id = isObject(params) ? params['requestId'] : undefined;
  return isRequestId(id) ? id : undefined;
}
