/** Which failures are a server's, and that they name it. */
import { expect, it } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { failingAs, ServerFailure, toServerFailure } from '../../../src/gateway/server-failure.ts';
import type { CallMessage, CallMessages } from '../../../src/upstream/protocol/call.ts';
import { createRecord } from './fakes.ts';

const server = createRecord('alpha');
const timeout = new PorticoError('upstream_timeout', 'It took too long');

it('[MCP-12] is what the server caused, not the caller or the gateway', () => {
  const failure = toServerFailure(server, timeout);
  expect(failure).toBeInstanceOf(ServerFailure);
  expect(failure).toMatchObject({
    server,
    reason: timeout,
    name: 'ServerFailure',
    message: 'It took too long',
  });
  const others = [
    new PorticoError('invalid_params'),
    new Error('x'),
    { entry: { toolResult: true } },
  ];
  for (const other of others) expect(toServerFailure(server, other)).toBe(other);
});

it('[MCP-12] names the server if its messages break off', async () => {
  const note: CallMessage = { kind: 'notification', method: 'x', text: '{}' };
  async function* breaking(thrown: unknown): CallMessages {
    yield note;
    throw thrown;
  }
  for (const [thrown, told] of [
    [timeout, { server, reason: timeout }],
    [new Error('ours'), { message: 'ours' }],
  ]) {
    const seen: CallMessage[] = [];
    const take = async () => {
      for await (const message of failingAs(server, breaking(thrown))) seen.push(message);
    };
    await expect(take()).rejects.toMatchObject(told as object);
    expect(seen).toEqual([note]);
  }
});
