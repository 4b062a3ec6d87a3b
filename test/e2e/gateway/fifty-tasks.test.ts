/**
 * Fifty tasks done by a scripted host, over the three tools and over the full list, before eleven real servers with 231 tools: found,
 * described, called with arguments that fit. What it takes, in calls for each task, is printed.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { TASK_SERVERS } from '../../fixtures/task-servers.ts';
import { TASKS } from '../../fixtures/tasks.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { open, type Era } from '../support/raw-client.ts';
import { doBySearch, readFullList, type Done, type Wanted } from '../support/task-host.ts';

const COUNT = 50;
let gateway: Gateway;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-tasks-'));
  gateway = await startGateway();
  await Promise.all(
    [...TASK_SERVERS].map(async ([name, tools]) => {
      const file = join(folder, `${name}.json`);
      await writeFile(file, JSON.stringify(tools));
      const { origin } = await startFixture('listed-tools', { tools: file });
      await gateway.register(name, `${origin}/mcp`);
    }),
  );
});

afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

const connect = (era: Era, tools: string) =>
  open(era, { url: `${gateway.origin}/mcp?tools=${tools}`, token: gateway.adminToken });

/** Has all tasks done, and finds those that were not. */
async function runAll(how: string, work: (task: Wanted) => Promise<Done>) {
  const missed: unknown[] = [];
  const calls: number[] = [];
  for (const { wanted, facts, tool, args } of TASKS) {
    const done = await work({ wanted, facts });
    calls.push(done.calls);
    const right = { name: tool.split('.')[1], given: args };
    if (JSON.stringify(done.answer) !== JSON.stringify(right))
      missed.push([wanted, tool, done.answer]);
  }
  const mean = calls.reduce((sum, count) => sum + count, 0) / calls.length;
  process.stderr.write(
    `${how}: ${COUNT - missed.length} of ${COUNT} tasks, ${mean.toFixed(2)} calls per task, ${Math.max(...calls)} at most\n`,
  );
  return missed;
}

it('[FIND-2] are fifty, each for another tool, none of which is named', () => {
  expect(TASKS).toHaveLength(COUNT);
  expect(new Set(TASKS.map(({ tool }) => tool)).size).toBe(COUNT);
  const telling = TASKS.filter(({ wanted, tool }) => wanted.includes(tool.split('.')[1] ?? ''));
  expect(telling).toEqual([]);
});

it.each(['legacy', 'modern'] as const)('[FIND-2] are done over three tools: %s', async era => {
  const client = await connect(era, 'search');
  expect(await runAll(`three tools, ${era}`, task => doBySearch(client, task))).toEqual([]);
});

it('[FIND-2] are done over the full list', async () => {
  const work = await readFullList(await connect('modern', 'all'));
  expect(await runAll('full list', work)).toEqual([]);
});
