/** Which lists changed between two discoveries. */
import { expect, it } from 'vitest';
import { changedLists, listHashes, NO_LISTS } from '../../../src/monitor/changes.ts';

const empty = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

it('[REG-5] nothing changed if a server without items stays without', async () => {
  expect(changedLists(NO_LISTS, await listHashes(empty))).toEqual([]);
});

it('[REG-5] each list is compared separately; templates count as resources', async () => {
  const before = await listHashes({ ...empty, tools: ['{"name":"a"}'] });
  const after = await listHashes({
    ...empty,
    tools: ['{"name":"a"}'],
    resourceTemplates: ['{"uriTemplate":"x"}'],
  });
  expect(changedLists(before, after)).toEqual(['resources']);
  expect(changedLists(after, NO_LISTS)).toEqual(['tools', 'resources']);
});

it('[REG-5] an item that moves from resources to templates is a change', async () => {
  const before = await listHashes({ ...empty, resources: ['{}'] });
  const after = await listHashes({ ...empty, resourceTemplates: ['{}'] });
  expect(changedLists(before, after)).toEqual(['resources']);
});
