/** Keeps the invocation, or the object, alive until some work is done, without waiting for it. */
export type WaitUntil = (work: Promise<unknown>) => void;
