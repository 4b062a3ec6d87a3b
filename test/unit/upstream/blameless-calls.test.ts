/** Which failed calls have their server's monitor woken: only those that say something about the server. */
import { expect, it } from 'vitest';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import type { ErrorCode } from '../../../src/shared/errors/table.ts';
import type { CallContext } from '../../../src/upstream/protocol/call.ts';
import { Upstreams, type UpstreamsOptions } from '../../../src/upstream/upstream-client.ts';

const SERVER = { id: 's', verdict: { era: 'legacy', transport: 'sse' } } as Server;

it.each<[ErrorCode, string[]]>([
  ['upstream_bad_message', ['s']],
  ['upstream_timeout', []],
  ['invalid_params', []],
  ['too_many_calls', []],
])('[REG-4] [MCP-12] a call that ends with %s wakes the monitors of %j', async (code, expected) => {
  const woken: string[] = [];
  const upstreams = new Upstreams({
    throughObject: () => Promise.reject(new PorticoError(code)),
    requestRecheck: async (id: string) => void woken.push(id),
  } as unknown as UpstreamsOptions);
  const context = {
    signal: new AbortController().signal,
    waitUntil() {},
  } as unknown as CallContext;
  const request = { method: 'tools/call', params: new Map() };
  await expect(upstreams.call(SERVER, request, 'a', context)).rejects.toMatchObject({ code });
  expect(woken).toEqual(expected);
});
