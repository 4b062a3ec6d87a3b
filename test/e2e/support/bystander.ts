/** A principal who calls all the time while others act. */
import { expect } from 'vitest';
import type { Gateway } from './gateway.ts';
import { open } from './raw-client.ts';

/** Runs `work`; returns the longest time of a call of `fine.echo` with this token meanwhile, in milliseconds. */
export async function watchedBy(
  token: string,
  { origin }: Pick<Gateway, 'origin'>,
  work: () => Promise<unknown>,
): Promise<number> {
  const client = await open('legacy', { url: `${origin}/mcp`, token });
  let longest = 0;
  const state = { isOver: false };
  const watch = async () => {
    while (!state.isOver) {
      const startedAt = performance.now();
      const { message } = await client.call('fine.echo', { message: 'hello' });
      expect(message.result?.['content']).toEqual([{ type: 'text', text: 'Echo: hello' }]);
      longest = Math.max(longest, performance.now() - startedAt);
    }
  };
  await Promise.all([watch(), work().finally(() => (state.isOver = true))]);
  return longest;
}
