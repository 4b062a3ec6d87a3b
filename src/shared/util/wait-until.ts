/** Keeps the invocation, or the object, alive until some work is done that nobody waits for. */
export type WaitUntil = (work: Promise<unknown>) => void;
