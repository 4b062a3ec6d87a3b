/**
 * A language model that holds a conversation and calls tools, as the domain asks it. How one is reached is for the adapters beside this
 * file. What could not be answered throws `ModelFailure`, which says nothing of addresses or keys.
 */
import type { Dialect, TokenCount, TurnRequest } from './formats/dialect.ts';
import type { CountedReply } from './metered.ts';

export interface ChatAsk extends TurnRequest {
  /** Ends the question: a time, or a caller that goes away. */
  signal: AbortSignal;
  /** Told of the answer's text while it comes; absent where nobody watches, and then nothing is streamed. */
  onText?: (text: string) => void;
}

export interface ChatModel {
  /** Which model, for the record. */
  readonly name: string;
  /** In which tools have to be exported to it. */
  readonly dialect: Dialect;
  /** What that many tokens cost, in US dollars; undefined where the deployment names no prices. */
  costOf(tokens: TokenCount): number | undefined;
  /** @throws ModelFailure */
  chat(ask: ChatAsk): Promise<CountedReply>;
}
