/** A stdio server that many people use, with its own state between calls: a process that several calls talk to. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { clients } from '../support/sdk-clients.ts';
import { closeStands, node, openStand } from '../support/stdio-stand.ts';

afterAll(closeStands);

it('[CLI-1] an interactive process of Desktop Commander lives on from call to call', async () => {
  const home = await mkdtemp(join(tmpdir(), 'portico-children-'));
  const server = node(
    'test/programs/node_modules/@wonderwhy-er/desktop-commander/dist/index.js',
    '--no-onboarding',
  );
  const env = { HOME: home, DESKTOP_COMMANDER_DISABLE_TELEMETRY: '1' };
  const stand = await openStand({ ...server, env });
  const client = await clients['SDK 2.x auto'](stand);
  const call = async (name: string, given: Record<string, unknown>) => {
    const { content } = await client.callTool(name, given);
    return (content as { text: string }[]).map(({ text }) => text).join('\n');
  };
  const command = `${process.execPath} -i`;
  const started = await call('start_process', { command, timeout_ms: 20_000 });
  const pid = Number(/PID (\d+)/u.exec(started)?.[1]);
  expect(pid).toBeGreaterThan(0);
  const talk = (input: string) => call('interact_with_process', { pid, input, timeout_ms: 20_000 });
  await talk('let kept = 6');
  await talk('`answer: ${kept * 7}`');
  await until('it answers', 60_000, async () => {
    const text = await call('read_process_output', { pid, offset: -50 });
    return text.includes('answer: 42') || undefined;
  });
  expect(await call('force_terminate', { pid })).toContain('terminat');
  await client.close();
  await stand.close();
  await rm(home, { recursive: true });
});
