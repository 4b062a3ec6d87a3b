/** Questions of servers to clients, on their way through a call, and those that are taken back. Pure. */
import { withExactIds } from '../../shared/json/json-spans.ts';
import { isObject, isRequestId, type RequestId } from '../../shared/protocol.ts';

/** A client's answer as raw JSON: its result, or its error. */
export type RawAnswer = { result: string } | { error: string };

/** A question on its way to the client. */
export interface Question {
  kind: 'question';
  method: string;
  /** Raw params. */
  params: string;
  /** Give the server its answer; may be called once. */
  answer(answer: RawAnswer): Promise<void>;
}

/** The server has taken a question back: nobody need answer it any more. */
export interface RequestCancellation {
  kind: 'withdrawal';
  of: Question;
  /** Raw params of the notification: the reason, where the server gives one. */
  params: string;
}

/** Id of the question that a server's notification takes back, if it is such a one. */
export function withdrawnId(method: string, text: string): RequestId | undefined {
  if (method !== 'notifications/cancelled') return undefined;
  const { params } = withExactIds(JSON.parse(text), text) as { params?: unknown };
  const id = isObject(params) ? params['requestId'] : undefined;
  return isRequestId(id) ? id : undefined;
}
