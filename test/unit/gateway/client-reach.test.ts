/** The visible servers in the era of one client: servers of both eras speak the client’s, and equal clients share the result. */
import { inEra } from '../../../src/servers/registry/in-era.ts';
import { expect, it } from 'vitest';
import { visibleToClient } from '../../../src/gateway/steps/restrict.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createRecord } from './fakes.ts';

const modern = {
  era: 'modern',
  protocolVersion: '2026-07-28',
  transport: 'http',
  sessionful: false,
} as const;
const legacy = { protocolVersion: '2025-11-25', sessionful: true };
const both = createRecord('both', { verdict: { ...modern, legacy } });

it('[MCP-5] [UP-1] a server that can ask in both eras uses the client’s own', () => {
  const spoken = inEra(both, 'legacy');
  expect(spoken).toEqual({
    ...both,
    verdict: {
      era: 'legacy',
      protocolVersion: '2025-11-25',
      transport: 'http',
      sessionful: true,
      modernVersion: '2026-07-28',
    },
  });
  // Lists and views are cached by the server's record.
  expect(inEra(both, 'legacy')).toBe(spoken);
  expect(inEra(both, 'modern')).toBe(both);
});

it('[MCP-5] [UP-1] every other server keeps its era', () => {
  const others: Server[] = [
    createRecord('new'),
    createRecord('modern', { verdict: modern }),
    createRecord('legacy', { verdict: { ...modern, era: 'legacy', sessionful: true } }),
    createRecord('deaf', { verdict: { ...modern, legacy: { ...legacy, sessionful: false } } }),
  ];
  for (const server of others) {
    for (const era of ['legacy', 'modern'] as const) expect(inEra(server, era)).toBe(server);
  }
});

it('[MCP-4] [MCP-5] a client’s visible servers include its capabilities, and are the same object for equal clients', () => {
  const visible = { servers: [both], views: new Map() };
  const made = visibleToClient(visible, 'legacy', { roots: {}, elicitation: {} });
  expect(made.servers).toEqual([inEra(both, 'legacy')]);
  expect(made.views).toBe(visible.views);
  expect([...(made.client?.features ?? [])]).toEqual(['roots', 'elicitation.form']);
  expect(made.client?.key).toBe('roots,elicitation.form');
  expect(visibleToClient(visible, 'legacy', { elicitation: { form: {} }, roots: {} })).toBe(made);
  const others = [
    visibleToClient(visible, 'modern', { roots: {}, elicitation: {} }),
    visibleToClient(visible, 'legacy', { roots: {} }),
    visibleToClient({ ...visible }, 'legacy', { roots: {}, elicitation: {} }),
  ];
  for (const other of others) expect(other).not.toBe(made);
  expect(others[0]?.servers).toEqual([both]);
  expect(others[1]?.client?.key).toBe('roots');
});
