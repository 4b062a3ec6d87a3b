/** A single attempt at a model, without retries, budget or prices. `create-models.ts` builds a `ChatModel` from it. */
import type { Dialect, TurnReply, TurnRequest } from './formats/dialect.ts';
import type { Attempt } from './retry.ts';

export interface OneAttempt {
  readonly dialect: Dialect;
  /** @param onText receives text as it arrives; absent where nothing is streamed @throws ModelFailure */
  chat(request: TurnRequest, attempt: Attempt, onText?: (text: string) => void): Promise<TurnReply>;
  /** Returns one vector per text, in their order. @throws ModelFailure */
  readonly embed?: {
    maxTexts: number;
    of(texts: readonly string[], attempt: Attempt): Promise<number[][]>;
  };
}
