/** Waits for work with a time limit. */

/** Resolves when the work has ended, failed or not, or when the time is over. */
export async function within(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([toEnd(work), late]);
  clearTimeout(timer);
}

async function toEnd(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch {
    // Only the end of the work matters.
  }
}
