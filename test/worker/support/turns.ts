/** Whether other work gets its turn while something runs. */

/** Runs work and counts how often the event loop was idle meanwhile, so that timers and network events could run. */
export async function turnsDuring<T>(work: () => Promise<T>): Promise<{ done: T; turns: number }> {
  const watch = { turns: 0, isOver: false };
  const counting = (async () => {
    while (!watch.isOver) {
      await scheduler.wait(0);
      watch.turns += 1;
    }
  })();
  const done = await work();
  watch.isOver = true;
  await counting;
  return { done, turns: watch.turns };
}
