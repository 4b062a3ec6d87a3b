/** Fifty sessions of both eras, each with forty calls at once, all with the same ids: no response is mixed up or lost. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { open, textOf } from '../support/raw-client.ts';
import type { RawClient } from '../support/raw-client.ts';

const SESSIONS = 50;
const CALLS = 40;
const names = ['legacy', 'modern'] as const;
const upstreams: Upstream[] = [];
let gateway: Gateway;

beforeAll(async () => {
  const [started, legacy, modern] = await Promise.all([
    // A busy machine must not look like a broken server.
    startGateway({ env: { PORTICO_CALL_TIMEOUT_MS: '120000', PORTICO_CIRCUIT_FAILURES: '1000' } }),
    startFixture('rich-legacy'),
    startFixture('rich-modern'),
  ]);
  gateway = started;
  upstreams.push(legacy, modern);
  await gateway.register('legacy', `${legacy.origin}/mcp`);
  await gateway.register('modern', `${modern.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.stop()));
});

it('[MCP-5] [MCP-10] [MCP-12] [AG-US4-AC8] answers 2,000 parallel calls with equal ids, each with its own result', async () => {
  const target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
  const sessions: RawClient[] = [];
  for (let index = 0; index < SESSIONS; index++) {
    const client = await open(index % 2 === 0 ? 'legacy' : 'modern', target);
    // Opens its session at the server beforehand: how long that takes on a busy machine is not tested here.
    await client.call('legacy.executions', { of: 'echo' });
    sessions.push(client);
  }
  const calls = sessions.flatMap((client, session) =>
    Array.from({ length: CALLS }, async (_, call) => {
      const message = `session ${session} call ${call}`;
      const answer = await client.call(`${names[call % 2]}.echo`, { message }, call);
      return { id: answer.message.id === call, text: textOf(answer) === `Echo: ${message}` };
    }),
  );
  const answers = await Promise.all(calls);
  expect(answers).toHaveLength(SESSIONS * CALLS);
  expect(answers.filter(answer => !answer.id || !answer.text)).toEqual([]);
  for (const [index, era] of names.entries()) {
    const direct = await open(era, { url: `${upstreams[index]?.origin}/mcp` });
    const executions = textOf(await direct.call('executions', { of: 'echo' }));
    expect(Number(executions)).toBe((SESSIONS * CALLS) / 2);
  }
});
