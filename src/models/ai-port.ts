/** The platform's own models, as far as they are used: the binding `AI` of a Worker. */
export interface AiBinding {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options?: { signal: AbortSignal },
  ): Promise<unknown>;
}
