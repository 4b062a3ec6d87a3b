/** Waits for something, but not for ever. */

/** Resolves when the work has ended, well or not, or the time is over. */
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
    // That it has ended is all that is asked.
  }
}
