/**
 * Port for a language model that holds a conversation and calls tools. The adapters beside this file implement how a model is reached.
 * Failures are thrown as `ModelFailure`, which reveals no address or key.
 */
import type { Dialect, TokenCount, TurnRequest } from './formats/dialect.ts';
import type { CountedReply } from './metered.ts';

export interface ChatTurnRequest extends TurnRequest {
  /** Aborts the request: on a timeout, or when the caller goes away. */
  signal: AbortSignal;
  /** Receives the answer's text as it arrives; where absent, nothing is streamed. */
  onText?: (text: string) => void;
}

export interface ChatModel {
  /** Name of the model, for records. */
  readonly name: string;
  /** The dialect in which tools have to be exported. */
  readonly dialect: Dialect;
  /** Returns the price of that many tokens, in US dollars; undefined where the deployment sets no prices. */
  costOf(tokens: TokenCount): number | undefined;
  /** @throws ModelFailure */
  chat(ask: ChatTurnRequest): Promise<CountedReply>;
}
