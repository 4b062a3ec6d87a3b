/** A model that makes vectors of texts, as the domain asks it. How it is reached is for the adapters beside this file. */
export interface Embedder {
  /** Which model, and at which API: vectors of another cannot be compared with its own. */
  readonly name: string;
  /** Most texts of one question. */
  readonly maxTexts: number;
  /**
   * One vector for each text, in their order.
   * @param signal ends it: a time, or a caller that goes away
   * @throws ModelFailure, which says nothing of addresses or keys
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
}
