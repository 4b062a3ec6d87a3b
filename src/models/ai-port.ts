/** The part of a Worker's `AI` binding, the platform's own models, that this code uses. */
export interface AiBinding {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options?: { signal: AbortSignal },
  ): Promise<unknown>;
}
