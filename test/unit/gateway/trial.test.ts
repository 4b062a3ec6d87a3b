/** The code with which a call would be refused, by the same decisions as real calls. */
import { expect, it } from 'vitest';
import { createTrial } from '../../../src/gateway/explain/dry-run.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createCaller } from '../access/callers.ts';
import { catalogOf, createRecord } from './fakes.ts';

const everyone = createCaller();
const trial = createTrial({ catalogOf });
const tried = (server: Server, tool = 'echo', caller = everyone) =>
  trial({ caller, visible: { servers: [server] } }, server, tool);
const alpha = createRecord('alpha');

it('[ACC-3] is absent if the call would be sent', async () => {
  expect(await tried(alpha)).toEqual({ isListed: true, code: undefined });
});

it('[ACC-3] names what the caller or the tool lacks', async () => {
  expect(await tried(alpha, 'none')).toEqual({ isListed: false, code: 'tool_not_found' });
  const elsewhere = createCaller({ servers: ['id-beta'] });
  expect(await tried(alpha, 'echo', elsewhere)).toEqual({
    isListed: false,
    code: 'tool_not_found',
  });
  const reader = createCaller({}, ['tools:read']);
  expect(await tried(alpha, 'echo', reader)).toEqual({ isListed: true, code: 'forbidden' });
  const writer = createCaller({}, ['tools:call']);
  expect(await tried(alpha, 'echo', writer)).toEqual({ isListed: false, code: undefined });
});

it('[ACC-3] [UP-5] names the state of the server', async () => {
  const resting = createRecord('alpha', { circuitRetryAt: 1 });
  expect(await tried(resting)).toEqual({ isListed: true, code: 'circuit_open' });
  const off = createRecord('off');
  expect(await tried(off)).toEqual({ isListed: false, code: 'server_disconnected' });
});
