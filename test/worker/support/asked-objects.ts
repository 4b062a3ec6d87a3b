/** How often the objects of a kind were requested, by either method. */
import { vi } from 'vitest';

/** Counts from now on, until mocks are restored. */
export function countAsked(
  objects: Pick<DurableObjectNamespace, 'get' | 'getByName'>,
): () => number {
  const ways = [vi.spyOn(objects, 'get'), vi.spyOn(objects, 'getByName')];
  return () => ways.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}
