/** What a toolset leaves of the visible servers. */
import { expect, it } from 'vitest';
import type { Toolset } from '../../../src/access/policy/toolset.ts';
import { withinToolset } from '../../../src/gateway/toolset-scope.ts';
import { createRecord } from './fakes.ts';

const toolset: Toolset = {
  id: 't',
  name: 't',
  description: '',
  definition: { include: ['alpha.read'], exclude: [], overrides: [] },
};

it('[ACC-4] a server without selected items disappears, and of others only the selected ones are visible', () => {
  const alpha = createRecord('alpha');
  const { servers, views } = withinToolset(toolset, { servers: [createRecord('beta'), alpha] });
  expect(servers).toEqual([alpha]);
  const seen = ['read', 'write'].map(tool => views.get(alpha.id)?.tool(tool, true));
  expect(seen).toEqual([true, false]);
});
