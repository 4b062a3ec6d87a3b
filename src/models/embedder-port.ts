/** Port for a model that embeds texts. The adapters beside this file implement how it is reached. */
export interface Embedder {
  /** Identifies the model and its API; vectors of different models cannot be compared. */
  readonly name: string;
  /** Most texts per request. */
  readonly maxTexts: number;
  /**
   * Returns one vector per text, in their order.
   * @param signal aborts the request: on a timeout, or when the caller goes away
   * @throws ModelFailure, which reveals no address or key
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
}
