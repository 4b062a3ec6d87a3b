/** Questions of servers to clients, on their way through a call. */

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
