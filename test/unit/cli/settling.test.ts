/** How long the start of `portico up` waits for its servers. */
import { expect, it } from 'vitest';
import type { Api, ServerRecord } from '../../../cli/src/gateway/api.ts';
import { whenSettled } from '../../../cli/src/up/settling.ts';

/** Longer than a test may take. */
const LONG_MS = 180_000;

const settle = (
  names: readonly string[],
  records: readonly Partial<ServerRecord>[],
  nameOf = (name: string) => name,
) => {
  const counts: string[] = [];
  let looks = 0;
  const settling = {
    api: { list: async () => ((looks += 1), records) } as unknown as Api,
    names,
    stateOf: () => undefined,
    nameOf,
    onCount: (there: number, of: number) => void counts.push(`${there} of ${of}`),
  };
  return whenSettled(settling, LONG_MS).then(found => ({ found, counts, looks }));
};

it('[CLI-3] does not wait for a server that the gateway refused', async () => {
  const docs = { name: 'docs', status: 'CONNECTED' };
  expect(await settle(['docs', 'refused'], [docs])).toEqual({
    found: [docs],
    counts: ['1 of 2'],
    looks: 1,
  });
});

it('[CLI-3] finds a server that is registered in another case', async () => {
  const docs = { name: 'Docs', status: 'CONNECTED' };
  expect(await settle(['docs'], [docs])).toEqual({ found: [docs], counts: ['1 of 1'], looks: 1 });
});

it('[CLI-3] finds a program that somebody renamed', async () => {
  const notes = { name: 'team-notes', status: 'CONNECTED' };
  const settled = await settle(['notes'], [notes], () => 'team-notes');
  expect(settled).toEqual({ found: [notes], counts: ['1 of 1'], looks: 1 });
});
