/** Resource updates in a reply of a legacy server: none passes on the stream, and each is forwarded once. */
import { expect, it } from 'vitest';
import { withoutUpdates } from '../../../src/gateway/results/messages.ts';
import type { CallMessage, CallMessages } from '../../../src/upstream/protocol/call.ts';

const UPDATED = 'notifications/resources/updated';
const note = (method: string, params: unknown): CallMessage => ({
  kind: 'notification',
  method,
  text: JSON.stringify({ jsonrpc: '2.0', method, params }),
});
const response: CallMessage = { kind: 'response', result: '{}', parsed: {} };

async function* messages(given: CallMessage[]): CallMessages {
  yield* given;
}

async function pass(era: 'legacy' | 'modern', given: CallMessage[]) {
  const told: string[] = [];
  const passed: CallMessage[] = [];
  const verdict = { era, protocolVersion: '', transport: 'http', sessionful: true } as const;
  const onUpdated = (serverId: string, uri: string, params: string) =>
    void told.push(`${serverId} ${uri} ${params}`);
  const seen = withoutUpdates({ id: 's', verdict }, messages(given), { onUpdated });
  for await (const message of seen) passed.push(message);
  return { told, passed };
}

it('[MCP-4] [SEC-8] forwards each resource once and passes everything else', async () => {
  const log = note('notifications/message', { level: 'info', data: 'x' });
  const a = note(UPDATED, { uri: 'note://a', more: 1 });
  const given = [a, log, a, note(UPDATED, { uri: 7 }), note(UPDATED, []), response];
  expect(await pass('legacy', given)).toEqual({
    told: ['s note://a {"uri":"note://a","more":1}'],
    passed: [log, response],
  });
  expect(await pass('modern', given)).toEqual({ told: [], passed: [log, response] });
});

it('[SEC-9] forwards a hundred resources at most', async () => {
  const many = Array.from({ length: 500 }, (_, i) => note(UPDATED, { uri: `note://${i}` }));
  const { told, passed } = await pass('legacy', [...many, response]);
  expect([told.length, passed]).toEqual([100, [response]]);
});
