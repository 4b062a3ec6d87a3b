/** A model as it is asked once: no second attempt, no budget, no price. What `create-models.ts` builds a `ChatModel` from. */
import type { Dialect, TurnReply, TurnRequest } from './formats/dialect.ts';
import type { Attempt } from './retry.ts';

export interface OneAttempt {
  readonly dialect: Dialect;
  /** @param onText told of text as it comes; absent where nothing is streamed. @throws ModelFailure */
  chat(request: TurnRequest, attempt: Attempt, onText?: (text: string) => void): Promise<TurnReply>;
  /** Vectors of a few texts, in their order. @throws ModelFailure */
  readonly embed?: {
    maxTexts: number;
    of(texts: readonly string[], attempt: Attempt): Promise<number[][]>;
  };
}
