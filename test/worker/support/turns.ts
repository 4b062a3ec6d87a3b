/** Whether others get their turn while something is done. */

/** What work came to, and how often the event loop was idle meanwhile: a timer comes then, and so does what the network brings. */
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
