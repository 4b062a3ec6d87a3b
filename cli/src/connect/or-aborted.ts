/** Waits for work that may never end, until a signal aborts. */

/** The result, or that the signal aborted first. */
export type OrAborted<T> = { value: T } | 'aborted';

/**
 * Rejects if the work does, unless the signal aborted first.
 * @param late gets a result that comes after the abort; a late failure is dropped
 */
export async function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  late: (value: T) => void = () => {},
): Promise<OrAborted<T>> {
  const { promise: aborted, resolve } = Promise.withResolvers<'aborted'>();
  const stop = () => resolve('aborted');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const first = await Promise.race([aborted, toValue(work)]).finally(() =>
    signal.removeEventListener('abort', stop),
  );
  if (first === 'aborted') void takeLate(work, late);
  return first;
}

const toValue = async <T>(work: Promise<T>): Promise<{ value: T }> => ({ value: await work });

async function takeLate<T>(work: Promise<T>, late: (value: T) => void): Promise<void> {
  try {
    late(await work);
  } catch {
    // Nothing waits for it any more.
  }
}
